// Process of the vending machine: its file of products, its database, and the renaming of a damaged one.
// The rest of the process is that of `ServiceProcess`.

import BankModel
import Configuration
import Posix
import QueueCore
import ServiceProcess
import StockClient
import Storage
import Transport
import VendingCore
import Wire

/// The vending machine as a process: `bank-vending --home DIR [--products FILE] [--quarantine FILE]
/// [--existing]`.
public enum VendingProcess {
  /// Runs until the end. Returns the exit code: 0 ended as requested, 1 failed, 2 started with invalid
  /// arguments, and those of ``DatabaseQuarantine``.
  public static func run(arguments: [String]) -> Int32 {
    ServiceProcess<VendingProgram>.run(arguments: arguments)
  }
}

/// The parts of the process that only the vending machine has.
private struct VendingProgram: ServiceProgram {
  static let name = "vending"
  static let role = PeerRole.vending
  static let title = "the vending machine"
  static let fileOptions = ["--products", "--quarantine"]

  private let table: ProductTable

  /// Reads the file of products; without a path the standard products are used.
  init(configuration path: String?) throws(Failure) {
    do throws(ConfigurationError) { table = try path.map(ProductFile.load) ?? .standard } catch {
      throw Failure(.badConfiguration, subject: path ?? "", detail: error.description)
    }
  }

  /// Replaces a damaged database in place of serving, if `--quarantine` was given. Returns the exit code; nil without
  /// this option.
  static func runInstead(_ options: ServiceOptions) throws -> Int32? {
    guard let target = options.files["--quarantine"] else { return nil }
    return try DatabaseQuarantine.run(ServiceHome(path: options.home, name: name), to: target).rawValue
  }

  /// Opens the database, and makes the service over it. A new database stores `identity` as the machine's identity.
  func open(
    _ home: ServiceHome, on loop: EventLoop, identity: Int64, onProgress: @escaping () -> Void
  ) throws(StoreError) -> (DatabaseStore, VendingService<VendingStateMachine>) {
    let store = try SQLiteVendingStore(path: home.database, onProgress: onProgress)
    let stored = try store.load(newMachine: identity)
    let driver = MachineDriver(try VendingPersistence(store), VendingStateMachine(stored, table))
    let stock = StockClient(socket: StockClient.socket(inHome: home.path), loop: loop)
    return (store, VendingService(driver, table: table, stock: stock))
  }
}
