// Where the programs under test are: the directory that BANK_BINARIES names, or else the one in which this test
// bundle lies, since a plain `swift build` puts everything there. Nothing of the product is imported here.
import Foundation
import Glibc

enum Binaries {
  static let directory: String = {
    if let named = ProcessInfo.processInfo.environment["BANK_BINARIES"], !named.isEmpty { return named }
    var buffer = [CChar](repeating: 0, count: Int(PATH_MAX))
    let length = readlink("/proc/self/exe", &buffer, buffer.count - 1)
    let path = String(decoding: buffer.prefix(max(length, 0)).map(UInt8.init(bitPattern:)), as: UTF8.self)
    return String(path[..<(path.lastIndex(of: "/") ?? path.startIndex)])
  }()

  /// All of them, for a test that has them in a directory of its own.
  static let names = [
    "bankctl", "bankd", "bank-guardian", "bank-teller", "bank-juice", "bank-stockd", "bank-vending",
  ]

  static var bankctl: String { directory + "/bankctl" }
}
