// File that names the database that a bank has opened. After a kill the next coordinator opens the same database, even
// if the configuration has changed: a changed address applies from the next regular start. If a coordinator used the
// changed address after a crash, it would open another bank, without the present customers.
// Invariant: the file is replaced as a whole, so it contains the state of one moment. It contains no password, because
// an address contains none.
// Errors: a file that cannot be written or read counts as missing; then the configuration names the database.

import Configuration
import Posix

enum StoreMarkerFile {
  private static let longest = 1 << 14

  /// Stores the setting `store` of the open bank.
  static func write(_ store: BankConfiguration.Store, at path: String) {
    RecoveryMarkerFile.write(Array(text(store).utf8), at: path)
  }

  /// Stored setting; nil if the file is missing or invalid.
  static func read(from path: String) -> BankConfiguration.Store? {
    guard let file = try? FileDescriptor.open(path, [.readOnly, .noFollow]),
      let bytes = try? file.readAll(limit: longest)
    else { return nil }
    return parse(String(decoding: bytes, as: UTF8.self))
  }

  static func text(_ store: BankConfiguration.Store) -> String {
    "\(store.address?.description ?? "")\n\(store.page)\n\(store.branch ?? "")\nend\n"
  }

  /// Setting in the contents of a file; nil if they are invalid.
  static func parse(_ text: String) -> BankConfiguration.Store? {
    let lines = text.split(separator: "\n", omittingEmptySubsequences: false)
    guard lines.count == 5, lines[3] == "end", lines[4].isEmpty, let page = Int32(lines[1]), page > 0 else {
      return nil
    }
    var store = BankConfiguration.Store()
    if !lines[0].isEmpty {
      guard let address = try? StoreAddress(String(lines[0])) else { return nil }
      store.address = address
    }
    store.page = page
    store.branch = lines[2].isEmpty ? nil : String(lines[2])
    return store
  }
}

extension BankConfiguration {
  /// Copy of the configuration with this store: an open bank keeps the database that it has opened.
  func keeping(_ store: Store) -> BankConfiguration {
    var kept = self
    kept.store = store
    return kept
  }
}
