// Plants a README that is too long, links that lead nowhere, a page that no index lists, and undecided particles.

import Testing

@Suite("The rules about texts for people")
struct DocumentationRulesTests {
  @Test("the README has at most 200 lines")
  func length() {
    func count(_ lines: Int, _ path: String = "README.md") -> Int {
      DocumentationRules.checkReadme(File(path, String(repeating: "a\n", count: lines))).count
    }
    #expect(count(200) == 0)
    #expect(count(201) == 1)
    #expect(count(201, "Sources/Wire/Wire.docc/Protocol.md") == 0)
  }

  @Test("a link leads to a file of the repository")
  func links() {
    let paths: Set = ["README.md", "Sources/A/A.docc/One.md", "Sources/B/B.docc/Two.md", "config/bank.json"]
    func lines(_ path: String, _ text: String) -> [Int?] {
      DocumentationRules.checkLinks(File(path, text), paths).map(\.line)
    }
    #expect(lines("README.md", "see [one](Sources/A/A.docc/One.md), [c](config/bank.json)").isEmpty)
    #expect(lines("README.md", "[swift](https://www.swift.org) and [here](#top)").isEmpty)
    #expect(lines("README.md", "a\n[two](Sources/B/Two.md) [one](Sources/A/A.docc/One.md)") == [2])
    #expect(lines("Sources/A/A.docc/One.md", "[two](../../B/B.docc/Two.md#head) [me](One.md)").isEmpty)
    #expect(lines("Sources/A/A.docc/One.md", "[two](../B/B.docc/Two.md)") == [1])
    #expect(lines("Sources/A/A.swift", "let a = b[c](d)").isEmpty)
  }

  @Test("a link to a heading leads to one, on the same page and on another")
  func anchors() {
    let text = "# One\n## Work of one's own\n```sh\n# none\n```\n[a](#work-of-ones-own)"
    let page = File("Sources/A/A.docc/One.md", text)
    let headings = [page.path: DocumentationRules.anchors(of: page)]
    #expect(headings[page.path] == ["one", "work-of-ones-own"])
    func lines(_ path: String, _ text: String) -> [Int?] {
      DocumentationRules.checkAnchors(File(path, text), headings).map(\.line)
    }
    #expect(lines(page.path, page.text).isEmpty)
    #expect(lines("README.md", "[one](Sources/A/A.docc/One.md#Work-of-ones-own)").isEmpty)
    #expect(lines("README.md", "a\n[one](Sources/A/A.docc/One.md#none)") == [2])
    #expect(lines(page.path, "[me](#two)") == [1])
    #expect(lines("README.md", "[code](Sources/A/A.swift#L3) [web](https://swift.org/#x)").isEmpty)
  }

  @Test("the index lists every page")
  func index() {
    let index = DocumentationRules.index
    let paths: Set = [
      "README.md", index, "Sources/A/A.docc/One.md", "Sources/BankctlCommands/BankctlCommands.docc/Two.md",
    ]
    func count(_ text: String, _ path: String = index) -> Int {
      DocumentationRules.checkIndex(File(path, text), paths).count
    }
    #expect(count("[one](../../A/A.docc/One.md#head) and [two](Two.md)") == 0)
    #expect(count("[one](../../A/A.docc/One.md)") == 1)
    #expect(count("", "README.md") == 0)
  }

  @Test("a place that a page or a schema names is in the repository")
  func places() {
    let paths: Set = ["Tests/ATests/OneTests.swift", "Tests/ATests/Golden", "scripts/check"]
    func lines(_ path: String, _ text: String) -> [Int?] {
      DocumentationRules.checkPaths(File(path, text), paths).map(\.line)
    }
    #expect(lines("Sources/A/A.docc/a.cddl", "; Tests/ATests/OneTests.swift, scripts/check.").isEmpty)
    #expect(lines("Sources/A/A.docc/a.cddl", "x\n; Tests/ATests/TwoTests.swift holds it.") == [2])
    #expect(lines("README.md", "`Tests/ATests/Golden/*.hex` and `/srv/config/a.json`").isEmpty)
    #expect(lines("README.md", "`scripts/chekc`") == [1])
    #expect(lines("Sources/A/A.swift", "// Tests/ATests/TwoTests.swift").isEmpty)
  }

  @Test(
    "an undecided particle, another politeness and another spelling are refused",
    arguments: DocumentationRules.bannedInKorean.map(\.word))
  func korean(word: String) {
    func count(_ path: String) -> Int {
      DocumentationRules.checkKorean(File(path, "x\n\"홈 \\(home)\(word) 쓸 수 없습니다.\"\n")).count
    }
    #expect(count("Sources/BankctlCommands/Words/Words.swift") == 1)
    #expect(count("scripts/setup") == 1)
    #expect(count("README.md") == 1)
    #expect(count("Tests/BankctlTests/WordsTests.swift") == 0)
    #expect(
      DocumentationRules.checkKorean(File("scripts/setup", "say '위치가 둘입니다(a, b). 개수(음수)를'")).isEmpty)
  }
}
