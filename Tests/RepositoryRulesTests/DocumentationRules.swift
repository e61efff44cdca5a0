// Rules for pages and messages: the length of the README, links to files and headings, an index of all pages, one style
// of Korean. A rule checks one file.

enum DocumentationRules {
  /// Lines of the README, the first page that a newcomer reads.
  static let longestReadme = 200

  static func checkReadme(_ file: File) -> [Violation] {
    guard file.path == "README.md" else { return [] }
    let count = file.text.utf8.count { $0 == UInt8(ascii: "\n") }
    guard count > longestReadme else { return [] }
    return [
      Violation(
        file.path,
        "has \(count) lines, more than \(longestReadme); move details into a page beside the code"
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
        violations.append(Violation(file.path, line: offset + 1, "links to \(target), which does not exist"))
      }
    }
    return violations
  }

  /// A link that names a heading of a page leads to one.
  ///
  /// - Parameter headings: The anchors of each page, by its path; see ``anchors(of:)``.
  static func checkAnchors(_ file: File, _ headings: [String: Set<String>]) -> [Violation] {
    guard file.path.hasSuffix(".md") else { return [] }
    let links = /\]\(([^)#:]*)#([^)]+)\)/
    return file.lines.enumerated().flatMap { offset, line in
      line.matches(of: links).compactMap { match -> Violation? in
        let page = match.1.isEmpty ? file.path : resolved(String(match.1), from: file.path)
        guard let known = headings[page], !known.contains(match.2.lowercased()) else { return nil }
        return Violation(
          file.path, line: offset + 1, "links to #\(match.2), which is not a heading of \(page)")
      }
    }
  }

  /// The anchors of the headings of a page in lower case, as code hosts and DocC make them: letters and digits stay, a
  /// space becomes a hyphen.
  static func anchors(of file: File) -> Set<String> {
    var isCode = false
    return Set(
      file.lines.compactMap { line -> String? in
        if line.hasPrefix("```") { isCode.toggle() }
        guard !isCode, line.hasPrefix("#") else { return nil }
        let heading = line.drop { $0 == "#" }.drop { $0 == " " }.lowercased()
        let kept = heading.filter { $0.isLetter || $0.isNumber || " -_".contains($0) }
        return String(kept.map { $0 == " " ? "-" : $0 })
      })
  }

  /// The page that lists all others.
  static let index = "Sources/BankctlCommands/BankctlCommands.docc/Documentation.md"

  /// The index links to every page.
  ///
  /// - Parameter paths: Every file of the repository, from its root.
  static func checkIndex(_ file: File, _ paths: Set<String>) -> [Violation] {
    guard file.path == index else { return [] }
    let linked = file.text.matches(of: /\]\(([^)#:]+)/).map { resolved(String($0.1), from: index) }
    let pages = paths.filter { $0.hasPrefix("Sources/") && $0.hasSuffix(".md") && $0 != index }
    return pages.subtracting(linked).sorted().map { Violation(index, "does not list \($0)") }
  }

  private static func resolved(_ target: String, from path: String) -> String {
    var parts = path.split(separator: "/").dropLast()
    for step in target.split(separator: "/") where step != "." {
      if step == ".." { parts = parts.dropLast() } else { parts.append(step) }
    }
    return parts.joined(separator: "/")
  }

  /// A file or a directory of the repository that a page or a schema names exists.
  ///
  /// - Parameter paths: Every file and directory of the repository, from its root.
  static func checkPaths(_ file: File, _ paths: Set<String>) -> [Violation] {
    guard file.path.hasSuffix(".md") || file.path.hasSuffix(".cddl") else { return [] }
    let places = /(?:Sources|Tests|scripts|config)\/[A-Za-z0-9_.\/+\-]+/
    return file.lines.enumerated().flatMap { offset, line -> [Violation] in
      line.matches(of: places).compactMap { match -> Violation? in
        // The end of a longer path is not a path from the root.
        let before = line[..<match.range.lowerBound].last
        guard before.map({ $0.isLetter || $0.isNumber || "/._-".contains($0) }) != true else { return nil }
        var name = match.output
        while let last = name.last, "./-".contains(last) { name.removeLast() }
        guard !paths.contains(String(name)) else { return nil }
        return Violation(file.path, line: offset + 1, "names \(name), which does not exist")
      }
    }
  }

  struct BannedWord {
    let word: String
    let instead: String
  }

  /// Undecided pairs of particles, a second level of politeness, and spellings that the original does not
  /// have.
  static let undecidedSpellings = [
    "은(는)", "는(은)", "이(가)", "가(이)", "을(를)", "를(을)", "와(과)", "과(와)", "(으)로", "(이)라", "(이)나", "(아)야",
  ]
  static let bannedInKorean: [BannedWord] =
    undecidedSpellings.map {
      BannedWord(word: $0, instead: "the form that the last syllable chooses (`Particle`)")
    } + [
      BannedWord(word: "십시오", instead: "-세요; one level of politeness everywhere"),
      BannedWord(word: "입니까", instead: "-인가요"),
      BannedWord(word: "업무 중인", instead: "업무중, as the original writes it"),
      BannedWord(word: "업무 중입", instead: "업무중, as the original writes it"),
      BannedWord(word: "대기 중인 고객", instead: "대기중, as the original writes it"),
      BannedWord(word: "한가함", instead: "쉬는 중"),
      BannedWord(word: "은행원이 죽", instead: "워커가 종료되어"),
      BannedWord(word: "아무도 추가하지 않았", instead: "추가된 고객이 없습니다"),
    ]

  static func checkKorean(_ file: File) -> [Violation] {
    guard file.isSource || file.path.hasPrefix("scripts/") || file.path == "README.md" else { return [] }
    return file.lines.enumerated().flatMap { offset, line in
      bannedInKorean.filter { line.contains($0.word) }.map {
        Violation(file.path, line: offset + 1, "contains \($0.word); use \($0.instead)")
      }
    }
  }
}
