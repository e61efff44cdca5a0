// The form of a file: its name, its head, its length, its place, and forbidden contents. Each rule gets one
// file (or the names in the root) and judges nothing else.

enum FileRules {
  static let longest = 400
  static let topLevelNames: Set<String> = [
    "Package.swift", "Sources", "Tests", "scripts", "config", "README.md",
  ]

  /// No other names are allowed in the root; dot files belong to the tools.
  static func checkTopLevel(_ names: [String]) -> [Violation] {
    names.filter { !$0.hasPrefix(".") && !topLevelNames.contains($0) }.map {
      Violation($0, "does not belong in the root: only \(topLevelNames.sorted().joined(separator: ", "))")
    }
  }

  /// A Swift file starts with its purpose.
  static func checkHead(_ file: File) -> [Violation] {
    guard file.isSource, file.isSwift else { return [] }
    let comment = file.lines.prefix { $0.hasPrefix("//") && $0.count > 2 }
    guard comment.count < 2 else { return [] }
    return [
      Violation(
        file.path, line: 1,
        "starts without a comment of two lines or more: its purpose, its invariant and its errors"
      )
    ]
  }

  static func checkLength(_ file: File) -> [Violation] {
    guard file.isSource else { return [] }
    let count = file.text.utf8.count { $0 == UInt8(ascii: "\n") }
    guard count > longest else { return [] }
    return [Violation(file.path, "has \(count) lines, more than \(longest); split it by subject")]
  }

  static func checkName(_ file: File) -> [Violation] {
    guard file.isSource || file.isTest else { return [] }
    return ["Utils", "Manager", "Helper"].filter(file.name.contains).map {
      Violation(file.path, "is named \($0), which is meaningless; name its contents")
    }
  }

  /// Contents that are true on one machine only, or were left for later.
  static func checkContents(_ file: File) -> [Violation] {
    let places = ["/ho" + "me/", "/opt/sw" + "ift", "/Use" + "rs/"]
    let promises = ["TO" + "DO", "FIX" + "ME"]
    return file.lines.enumerated().flatMap { offset, line -> [Violation] in
      places.filter { line.contains($0) }.map {
        Violation(file.path, line: offset + 1, "contains \($0), a path of one machine")
      }
        + promises.filter { startsWithWord(line, $0) }.map {
          Violation(file.path, line: offset + 1, "contains \($0); do it, or open an issue")
        }
    }
  }

  /// An executable script is executable and states its purpose; a sourced one (`.bash`) states that it is
  /// sourced, and is not executable.
  static func checkScript(_ file: File) -> [Violation] {
    guard file.path.hasPrefix("scripts/") || file.path.hasPrefix(".ci/"), !file.isSwift else { return [] }
    let isSourced = file.path.hasSuffix(".bash")
    var head = file.lines[...]
    var violations: [Violation] = []
    if isSourced == file.isExecutable {
      violations.append(
        Violation(file.path, isSourced ? "is sourced and must not be executable" : "is not executable"))
    }
    if !isSourced {
      if head.first?.hasPrefix("#!/usr/bin/env ") != true {
        violations.append(Violation(file.path, line: 1, "does not start with #!/usr/bin/env"))
      }
      head = head.dropFirst()
    }
    if head.first.map({ $0.hasPrefix("# ") && $0.count >= 20 }) != true {
      violations.append(Violation(file.path, "has no comment with its purpose at the top"))
    }
    return violations
  }

  private static func startsWithWord(_ line: Substring, _ word: String) -> Bool {
    line.ranges(of: word).contains { range in
      let neighbours = [line[..<range.lowerBound].last, line[range.upperBound...].first]
      return neighbours.allSatisfy { !($0?.isLetter ?? false) && !($0?.isNumber ?? false) && $0 != "_" }
    }
  }
}
