// What is written for people: how long the entrance may be, that a link leads to a file, and that a Korean sentence does
// not leave the choice of a particle to its reader. Each rule is told one file and judges nothing else.

enum DocumentationRules {
  /// Whoever sees the project for the first time reads so much of it.
  static let longestReadme = 160

  static func checkReadme(_ file: File) -> [Violation] {
    guard file.path == "README.md" else { return [] }
    let count = file.text.utf8.count { $0 == UInt8(ascii: "\n") }
    guard count > longestReadme else { return [] }
    return [
      Violation(
        file.path,
        "has \(count) lines, more than \(longestReadme); what is not for newcomers belongs into a page beside the code"
      )
    ]
  }

  /// - Parameter paths: Every file of the repository, from its root.
  static func checkLinks(_ file: File, _ paths: Set<String>) -> [Violation] {
    guard file.path.hasSuffix(".md") else { return [] }
    var violations: [Violation] = []
    // A link may be broken over two lines inside its brackets, but not inside its parentheses.
    for (offset, line) in file.lines.enumerated() {
      for part in line.components(separatedBy: "](").dropFirst() {
        let target = part.prefix { $0 != ")" && $0 != "#" }
        guard !target.isEmpty, !target.contains(":") else { continue }
        guard !paths.contains(resolved(String(target), from: file.path)) else { continue }
        violations.append(Violation(file.path, line: offset + 1, "links to \(target), which is not there"))
      }
    }
    return violations
  }

  private static func resolved(_ target: String, from path: String) -> String {
    var parts = path.split(separator: "/").dropLast()
    for step in target.split(separator: "/") where step != "." {
      if step == ".." { parts = parts.dropLast() } else { parts.append(step) }
    }
    return parts.joined(separator: "/")
  }

  /// The last syllable decides, and a program knows it.
  static let undecided = [
    "은(는)", "는(은)", "이(가)", "가(이)", "을(를)", "를(을)", "와(과)", "과(와)", "(으)로", "(이)라", "(이)나", "(아)야",
  ]

  static func checkParticles(_ file: File) -> [Violation] {
    guard file.isSource || file.path.hasPrefix("scripts/") || file.path == "README.md" else { return [] }
    return file.lines.enumerated().flatMap { offset, line in
      undecided.filter { line.contains($0) }.map {
        Violation(
          file.path, line: offset + 1, "says \($0); the last syllable chooses the particle (`Particle`)")
      }
    }
  }
}
