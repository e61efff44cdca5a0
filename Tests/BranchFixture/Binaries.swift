// Directory of the programs under test: BANK_BINARIES, or the directory of this test bundle, into which a plain `swift
// build` puts every program. Nothing of the product is imported here.
import Foundation
import Glibc
import Testing

public enum Binaries {
  public static let directory: String = {
    if let named = ProcessInfo.processInfo.environment["BANK_BINARIES"], !named.isEmpty { return named }
    return bundle
  }()

  private static let bundle: String = {
    var buffer = [CChar](repeating: 0, count: Int(PATH_MAX))
    let length = readlink("/proc/self/exe", &buffer, buffer.count - 1)
    let path = String(decoding: buffer.prefix(max(length, 0)).map(UInt8.init(bitPattern:)), as: UTF8.self)
    return String(path[..<(path.lastIndex(of: "/") ?? path.startIndex)])
  }()

  /// Names of all programs, for a test that installs them into its own directory.
  public static let names = [
    "bankctl", "bank-chaos", "bankd", "bank-guardian", "bank-teller", "bank-juice", "bank-runner",
    "bank-stockd", "bank-vending", "bank-web",
  ]

  /// Path of a file that is built with the tests and is not a program of the product.
  public static func besideTests(_ name: String) -> String {
    let places = [bundle, directory].map { "\($0)/\(name)" }
    return places.first { access($0, R_OK) == 0 } ?? places[0]
  }

  public static var bankctl: String { directory + "/bankctl" }

  /// Puts programs into a directory of a test, in which some can be missing or replaced.
  ///
  /// A program on another file system is copied by a separate process. If this process wrote the copy, a program that a
  /// parallel test starts would inherit the descriptor, and the copy could not be executed (ETXTBSY, execve(2)).
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
