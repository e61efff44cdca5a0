// Process of the stock service: its file of fruits, juices and recipes, and its database.
// The rest of the process is that of `ServiceProcess`.

import BankModel
import Configuration
import Posix
import QueueCore
import ServiceProcess
import StockCore
import Storage
import Transport
import Wire

/// The stock service as a process: `bank-stockd --home DIR [--config FILE] [--existing]`.
public enum StockProcess {
  /// Runs until the end. Returns the exit code: 0 ended as requested, 1 failed, 2 started with invalid
  /// arguments.
  public static func run(arguments: [String]) -> Int32 {
    ServiceProcess<StockProgram>.run(arguments: arguments)
  }
}

/// The parts of the process that are specific to the stock service.
private struct StockProgram: ServiceProgram {
  static let name = "stock"
  static let role = PeerRole.stock
  static let title = "the stock service"
  static let fileOptions = ["--config"]

  private let assortment: Assortment

  /// Reads the file of fruits, juices and recipes; without a path the standard assortment is used.
  init(configuration path: String?) throws(Failure) {
    do throws(ConfigurationError) { assortment = try path.map(AssortmentFile.load) ?? .standard } catch {
      throw Failure(.badConfiguration, subject: path ?? "", detail: error.description)
    }
  }

  /// Opens the database, and makes the service over it. A new database stores `identity` as the identity of its ledger.
  func open(
    _ home: ServiceHome, on loop: EventLoop, identity: Int64, onProgress: @escaping () -> Void
  ) throws(StoreError) -> (DatabaseStore, StockService<StockMachine>) {
    let store = try SQLiteStockStore(path: home.database, onProgress: onProgress)
    let driver = MachineDriver(StockPersistence(store), StockMachine(try store.load(newLedger: identity)))
    return (store, StockService(driver, assortment: assortment))
  }
}
