// Owns the life of the process of the vending machine: from its command line to its exit code. It knows no rule of the
// machine. Whatever keeps it from opening is told to the coordinator on descriptor 3, and on standard error.
// Invariant: under a coordinator it never outlives the coordinator.

import BankModel
import Configuration
import Glibc
import Logbook
import Posix
import QueueCore
import StockClient
import Storage
import Transport
import VendingCore
import Wire

/// The vending machine as a process.
public enum VendingProcess {
  /// Runs until the end; the exit code of the process: 0 ended as asked, 1 failed, 2 started with other words.
  public static func run(arguments: [String]) -> Int32 {
    ProcessStart.prepare(as: .service)
    let options: VendingOptions
    do throws(Failure) { options = try VendingOptions(arguments) } catch {
      complain(error)
      return 2
    }
    if let target = options.setAside { return setAside(options.home, target) }
    do throws(SystemError) {
      return try run(options)
    } catch {
      complain(Failure(.system, detail: error.description))
      return 1
    }
  }

  private static func setAside(_ home: String, _ target: String) -> Int32 {
    do {
      return try SettingAside.run(ServiceHome(path: home, name: "vending"), to: target).rawValue
    } catch let failure as Failure {
      complain(failure)
    } catch {
      complain(Failure(.system, detail: "\(error)"))
    }
    return SettingAside.Outcome.failed.rawValue
  }

  private static func run(_ options: VendingOptions) throws(SystemError) -> Int32 {
    let loop = try EventLoop()
    var link: ParentLink?
    if let channel = ParentLink.inheritedChannel() {
      // A pair's credentials are those of the process that made it, which is the coordinator.
      let parent = try UnixSocket.peer(of: channel).pid
      guard ParentDeath.followParent(expectedParent: parent) else { return 0 }
      link = try ParentLink(channel, loop: loop, role: .vending)
    }
    CurrentProcess.setName("bank-vending")
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
    _ options: VendingOptions, _ loop: EventLoop, _ link: ParentLink?
  ) throws -> Int32 {
    let home = ServiceHome(path: options.home, name: "vending")
    let table = try products(options)
    try home.prepare()
    let lock = try home.takeLock(loop)
    try home.examineDatabase(mustExist: options.mustExist)
    let (store, desk) = try openDesk(home, table, link)
    let orders =
      link?.orders
      ?? WorkerOrders(
        name: "vending", generation: 1, language: .english, logPath: home.log, logLimit: 10 << 20, logKeep: 3)
    let log = try LogFile(
      path: orders.logPath.isEmpty ? "/dev/null" : orders.logPath, worker: orders.name,
      generation: orders.generation, limit: orders.logPath.isEmpty ? 0 : orders.logLimit, keep: orders.logKeep
    )
    let stock = StockClient(socket: StockClient.socket(inHome: home.path), loop: loop)
    let service = VendingService(desk: desk, table: table, stock: stock, loop: loop, log: log, link: link)
    service.mark = DatabaseMark(identity: desk.machine.machine, bank: try store.lastBank())
    service.remember = store.remember
    // A terminal sends SIGINT and SIGHUP to everybody; under a coordinator the end is for the coordinator to say.
    let signals = try SignalSource([SIGTERM, SIGINT, SIGHUP], on: loop) { report in
      if report.signal == SIGTERM || link == nil { service.askToEnd() }
    }
    try service.open(in: home, store.files)
    let code = try service.run()
    withExtendedLifetime(signals) {}
    // Nothing is lost if the log cannot be copied now: the next start reads it.
    if code == 0 { try? store.close() }
    lock.unlock()
    return code
  }

  private static func products(_ options: VendingOptions) throws(Failure) -> ProductTable {
    guard let path = options.products else { return .standard }
    do throws(ConfigurationError) { return try ProductFile.load(path: path) } catch {
      throw Failure(.badConfiguration, subject: path, detail: error.description)
    }
  }

  private static func openDesk(
    _ home: ServiceHome, _ table: ProductTable, _ link: ParentLink?
  ) throws(Failure) -> (SQLiteVendingStore, VendingDesk<VendingStateMachine>) {
    do throws(StoreError) {
      let store = try SQLiteVendingStore(path: home.database) { link?.progressed() }
      let machine = Int64(bitPattern: RandomSeed.fromSystem() >> 1)
      let stored = try store.load(newMachine: machine)
      store.keepReserve()
      return (store, try VendingDesk(store, VendingStateMachine(stored, table)))
    } catch {
      throw Failure(store: error, path: home.database)
    }
  }

  private static func complain(_ failure: Failure) {
    let words = [failure.code.rawValue, failure.subject, failure.detail].filter { !$0.isEmpty }
    // Where nobody reads standard error there is nobody to tell.
    _ = try? StandardStreams.write("bank-vending: \(words.joined(separator: ": "))\n", to: .error)
  }
}
