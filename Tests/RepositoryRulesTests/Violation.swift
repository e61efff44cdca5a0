// One place in the repository that breaks a rule, worded so that its reader knows what to change. A rule is a
// pure function that returns these; an empty list is a rule that holds.

struct Violation: Hashable, CustomStringConvertible {
  /// The path from the repository's root.
  let path: String
  /// Counts from 1; nil if the whole file is meant.
  let line: Int?
  /// What is wrong and what to do instead.
  let message: String

  init(_ path: String, line: Int? = nil, _ message: String) {
    self.path = path
    self.line = line
    self.message = message
  }

  var description: String {
    line.map { "\(path):\($0): \(message)" } ?? "\(path): \(message)"
  }
}

/// The input of a rule about one file of the repository.
struct File {
  /// The path from the repository's root.
  let path: String
  let text: String
  let isExecutable: Bool

  init(_ path: String, _ text: String, isExecutable: Bool = false) {
    self.path = path
    self.text = text
    self.isExecutable = isExecutable
  }

  var name: String { path.split(separator: "/").last.map(String.init) ?? path }

  /// The target whose directory the file is in, for a file below Sources or Tests.
  var target: String? {
    let parts = path.split(separator: "/")
    guard parts.count > 2, parts[0] == "Sources" || parts[0] == "Tests" else { return nil }
    return String(parts[1])
  }

  var isSource: Bool { path.hasPrefix("Sources/") }
  var isTest: Bool { path.hasPrefix("Tests/") }
  var isSwift: Bool { path.hasSuffix(".swift") }
  var isC: Bool { path.hasSuffix(".c") || path.hasSuffix(".h") }

  var lines: [Substring] { text.split(separator: "\n", omittingEmptySubsequences: false) }
}
