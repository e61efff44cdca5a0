// Where the programs under test are: the directory that BANK_BINARIES names, or else the one in which this test
// bundle lies, since a plain `swift build` puts everything there. Nothing of the product is imported here.
import Foundation
import Glibc
import Testing

public enum Binaries {
  public static let directory: String = {
    if let named = ProcessInfo.processInfo.environment["BANK_BINARIES"], !named.isEmpty { return named }
    return bundle
  }()

  /// Where this test bundle is.
  private static let bundle: String = {
    var buffer = [CChar](repeating: 0, count: Int(PATH_MAX))
    let length = readlink("/proc/self/exe", &buffer, buffer.count - 1)
    let path = String(decoding: buffer.prefix(max(length, 0)).map(UInt8.init(bitPattern:)), as: UTF8.self)
    return String(path[..<(path.lastIndex(of: "/") ?? path.startIndex)])
  }()

  /// All of them, for a test that has them in a directory of its own.
  public static let names = [
    "bankctl", "bank-chaos", "bankd", "bank-guardian", "bank-teller", "bank-juice", "bank-runner",
    "bank-stockd", "bank-vending", "bank-web",
  ]

  /// What is built with the tests and is no program.
  public static func besideTests(_ name: String) -> String {
    let places = [bundle, directory].map { "\($0)/\(name)" }
    return places.first { access($0, R_OK) == 0 } ?? places[0]
  }

  public static var bankctl: String { directory + "/bankctl" }

  /// Puts the programs into a directory of a test, where some can be missing or be others.
  ///
  /// Where a link would cross a file system another process copies: a test beside this one that starts a program just
  /// then would inherit the descriptor that is written to, and the copy could not be executed (ETXTBSY, execve(2)).
  public static func install(_ names: some Sequence<String>, in place: String) throws {
    mkdir(place, 0o700)
    let strangers = names.filter { link("\(directory)/\($0)", "\(place)/\($0)") != 0 }
    guard !strangers.isEmpty else { return }
    let copying = try RunningProgram(
      ["/bin/cp", "--"] + strangers.map { "\(directory)/\($0)" } + [place], environment: [:],
      files: place + ".copying")
    let copied = try copying.finish()
    try #require(copied.code == 0, copied.story)
  }
}
