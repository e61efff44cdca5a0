// Owns the note of which books a bank has opened, beside the sockets: those the next coordinator opens after this one has been
// killed, whatever the configuration says by then. Another address in an edited file is for the next start: a coordinator that
// went by it after a crash would be in another bank, with none of its customers.
// Invariant: the file is replaced whole, so a reader finds all of one moment. It holds no password, because no address does.
// Failure: a note that cannot be written or read is none, and the configuration says where the books are.

import Configuration
import Posix

enum StoreRecord {
  private static let longest = 1 << 14

  /// Keeps what is said of the books. It is for the death of a process and not of the machine, so the disk is not waited for.
  static func keep(_ store: BankConfiguration.Store, at path: String) {
    RecoveryNote.keep(Array(text(store).utf8), at: path)
  }

  /// What was kept; nil where nothing was, or it cannot be relied on.
  static func read(from path: String) -> BankConfiguration.Store? {
    guard let file = try? FileDescriptor.open(path, [.readOnly, .noFollow]),
      let bytes = try? file.readAll(limit: longest)
    else { return nil }
    return parse(String(decoding: bytes, as: UTF8.self))
  }

  static func text(_ store: BankConfiguration.Store) -> String {
    "\(store.address?.description ?? "")\n\(store.page)\n\(store.branch ?? "")\nend\n"
  }

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
  /// The same with other books: an open bank keeps those that it has opened.
  func keeping(_ store: Store) -> BankConfiguration {
    var kept = self
    kept.store = store
    return kept
  }
}
