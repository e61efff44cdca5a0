// Owns the life of the process of the stock service: from its command line to its exit code. It knows no rule of the
// stock. Whatever keeps it from opening is told to the coordinator on descriptor 3, and on standard error.
// Invariant: under a coordinator it never outlives the coordinator.

import BankModel
import Configuration
import Glibc
import Logbook
import Posix
import QueueCore
import StockCore
import Storage
import Transport
import Wire

/// The stock service as a process.
public enum StockProcess {
  /// Runs until the end; the exit code of the process: 0 ended as asked, 1 failed, 2 started with other words.
  public static func run(arguments: [String]) -> Int32 {
    ProcessStart.prepare(as: .service)
    let options: StockOptions
    do throws(Failure) { options = try StockOptions(arguments) } catch {
      complain(error)
      return 2
    }
    do throws(SystemError) {
      return try run(options)
    } catch {
      complain(Failure(.system, detail: error.description))
      return 1
    }
  }

  private static func run(_ options: StockOptions) throws(SystemError) -> Int32 {
    let loop = try EventLoop()
    var link: ParentLink?
    if let channel = ParentLink.inheritedChannel() {
      // A pair's credentials are those of the process that made it, which is the coordinator.
      let parent = try UnixSocket.peer(of: channel).pid
      guard ParentDeath.followParent(expectedParent: parent) else { return 0 }
      link = try ParentLink(channel, loop: loop, role: .stock)
    }
    CurrentProcess.setName("bank-stockd")
    while link?.state == .greeting { try loop.runOnce(until: nil) }
    switch link?.state {
    case .gone, .closing: return 0
    case .misunderstood(let words):
      complain(Failure(.system, detail: words))
      return 1
    default: break
    }
    do {
      return try serve(options, loop, link)
    } catch let failure as Failure {
      complain(failure)
      link?.say(.failed(failure))
    } catch let error as SystemError {
      throw error
    } catch {
      complain(Failure(.system, detail: "\(error)"))
    }
    return 1
  }

  private static func serve(
    _ options: StockOptions, _ loop: EventLoop, _ link: ParentLink?
  ) throws -> Int32 {
    let home = ServiceHome(path: options.home, name: "stock")
    let assortment = try assortment(options)
    try home.prepare()
    let lock = try home.takeLock(loop)
    try home.examineDatabase(mustExist: options.mustExist)
    let (store, desk) = try openDesk(home, link)
    let orders =
      link?.orders
      ?? WorkerOrders(
        name: "stock", generation: 1, language: .english, logPath: home.log, logLimit: 10 << 20, logKeep: 3)
    let log = try LogFile(
      path: orders.logPath.isEmpty ? "/dev/null" : orders.logPath, worker: orders.name,
      generation: orders.generation, limit: orders.logPath.isEmpty ? 0 : orders.logLimit, keep: orders.logKeep
    )
    let service = StockService(desk: desk, assortment: assortment, loop: loop, log: log, link: link)
    service.mark = DatabaseMark(identity: desk.machine.ledger, bank: try store.lastBank())
    service.remember = store.remember
    // A terminal sends SIGINT and SIGHUP to everybody; under a coordinator the end is for the coordinator to say.
    let signals = try SignalSource([SIGTERM, SIGINT, SIGHUP], on: loop) { report in
      if report.signal == SIGTERM || link == nil { service.askToEnd() }
    }
    try service.open(in: home, store.files)
    if let error = desk.failure { throw Failure(stock: error, path: home.database) }
    let code = try service.run()
    withExtendedLifetime(signals) {}
    // Nothing is lost if the log cannot be copied now: the next start reads it.
    if code == 0 { try? store.close() }
    lock.unlock()
    return code
  }

  private static func assortment(_ options: StockOptions) throws(Failure) -> Assortment {
    guard let path = options.config else { return .standard }
    do throws(ConfigurationError) { return try AssortmentFile.load(path: path) } catch {
      throw Failure(.badConfiguration, subject: path, detail: error.description)
    }
  }

  private static func openDesk(
    _ home: ServiceHome, _ link: ParentLink?
  ) throws(Failure) -> (SQLiteStockStore, StockDesk<StockMachine>) {
    do throws(StoreError) {
      let store = try SQLiteStockStore(path: home.database) { link?.progressed() }
      let ledger = Int64(bitPattern: RandomSeed.fromSystem() >> 1)
      let stored = try store.load(newLedger: ledger)
      store.keepReserve()
      return (store, StockDesk(store, StockMachine(stored)))
    } catch {
      throw Failure(stock: error, path: home.database)
    }
  }

  private static func complain(_ failure: Failure) {
    let words = [failure.code.rawValue, failure.subject, failure.detail].filter { !$0.isEmpty }
    // Where nobody reads standard error there is nobody to tell.
    _ = try? StandardStreams.write("bank-stockd: \(words.joined(separator: ": "))\n", to: .error)
  }
}
