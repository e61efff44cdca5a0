// Concurrent audits of the stock, of a service within this process, on a store in memory that counts them.

import BankModel
import Logging
import Posix
import ServiceProcess
import StockClient
import StockCore
import Storage
import Testing
import Time
import Transport
import Wire

@testable import StockService

@Suite("Concurrent audits of the stock", .serialized)
struct SharedAuditTests {
  @Test("share one look at every row; other clients are served meanwhile")
  func shared() throws {
    let fixture = try StockFixture()
    let home = ServiceHome(path: fixture.home, name: "stock")
    try home.prepare()
    let store = MemoryStockStore()
    let driver = MachineDriver(StockPersistence(store), StockMachine(try store.load(newLedger: 1)))
    let log = try LogFile(path: home.log, worker: "stock", generation: 1, limit: 1 << 20, keep: 1)
    let server = ServiceServer(
      StockService(driver, assortment: .standard), on: fixture.loop, log: log, supervisor: nil)
    try server.open(in: home)
    let clients = (0..<8).map { _ in fixture.client() }
    let until = SystemClock.monotonic() + StockFixture.patience
    var (audits, changes) = (0, 0)
    for client in clients {
      for _ in 0..<8 {
        client.ask(.audit, until: until) { if case .success(.audit) = $0 { audits += 1 } }
      }
      client.ask(.change(ItemAmount(ItemID("kiwi"), 1), nil), until: until) { _ in changes += 1 }
    }
    while audits < 64 || changes < 8 {
      try #require(SystemClock.monotonic() < until, "\(audits) audits, \(changes) changes")
      for client in clients { client.finishIteration() }
      try server.runIteration(until: SystemClock.monotonic() + .milliseconds(20))
    }
    #expect(store.audits <= 16, "\(store.audits) for 64")
    for client in clients { client.close() }
  }
}
