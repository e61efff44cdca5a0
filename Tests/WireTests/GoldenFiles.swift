// Comparison of a message's encoding with its golden file. Invariant: golden files are never deleted and
// never change once released; they are written only on demand. A missing file is a failure: otherwise a
// deleted one would pass.

import Glibc
import Testing

@testable import Wire

/// Expects that a message encodes to the contents of `Golden/NAME.hex`, and that the file decodes to the
/// message.
///
/// With `BANK_RECORD_GOLDEN=1` in the environment the file is written instead, to be checked and committed.
func expectGolden<T: Codable & Equatable>(
  _ message: T, _ name: String, sourceLocation: SourceLocation = #_sourceLocation
) throws {
  let encoded = try CBOREncoder().encode(message)
  let path = goldenPath(name)
  if getenv("BANK_RECORD_GOLDEN").map({ String(cString: $0) }) == "1" {
    try #require(writeFile(path, hex(encoded) + "\n"), "cannot write \(path)", sourceLocation: sourceLocation)
  }
  let golden = try goldenBytes(name)
  #expect(
    hex(encoded) == hex(golden),
    "the encoding of \(name) has changed; peers of an older build will not understand it",
    sourceLocation: sourceLocation)
  #expect(try CBORDecoder().decode(T.self, from: golden) == message, sourceLocation: sourceLocation)
}

/// The reason why there is nothing to compare with.
enum GoldenFileError: Error, Equatable {
  /// Record it with `BANK_RECORD_GOLDEN=1` and commit it; if it was deleted, restore it.
  case missing(path: String)
  case notHexadecimal(path: String)
}

/// The bytes that a golden file holds.
func goldenBytes(_ name: String) throws(GoldenFileError) -> [UInt8] {
  let path = goldenPath(name)
  guard let text = readFile(path) else { throw .missing(path: path) }
  guard let golden = bytes(text) else { throw .notHexadecimal(path: path) }
  return golden
}

/// The path of a golden file: beside this source file, so that a test needs no resource bundle.
func goldenPath(_ name: String) -> String {
  let here = #filePath
  let directory = here[..<(here.lastIndex(of: "/") ?? here.startIndex)]
  return "\(directory)/Golden/\(name).hex"
}

/// The names of all golden files of a kind; nil if they cannot be listed.
func goldenNames(_ suffix: String = ".hex") -> [String]? {
  let path = goldenPath("x").split(separator: "/").dropLast().joined(separator: "/")
  guard let directory = opendir("/" + path) else { return nil }
  defer { closedir(directory) }
  var names: [String] = []
  while let entry = readdir(directory) {
    let name = withUnsafePointer(to: &entry.pointee.d_name) { tuple in
      tuple.withMemoryRebound(to: CChar.self, capacity: 256) { String(cString: $0) }
    }
    if name.hasSuffix(suffix) { names.append(String(name.dropLast(suffix.count))) }
  }
  return names
}

/// The text of a file; nil if it cannot be read.
func readFile(_ path: String) -> String? {
  guard let file = fopen(path, "r") else { return nil }
  defer { fclose(file) }
  var content: [UInt8] = []
  var chunk = [UInt8](repeating: 0, count: 4096)
  while true {
    let count = fread(&chunk, 1, chunk.count, file)
    guard count > 0 else { break }
    content.append(contentsOf: chunk[..<count])
  }
  return String(validating: content, as: UTF8.self)
}

private func writeFile(_ path: String, _ text: String) -> Bool {
  guard let file = fopen(path, "w") else { return false }
  let isWritten = fputs(text, file) >= 0
  return fclose(file) == 0 && isWritten
}
