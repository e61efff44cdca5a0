// Plants files with a wrong name, head, length, place or content.

import Testing

@Suite("The rules about files")
struct FileRulesTests {
  @Test("a Swift file in Sources opens with two lines of comment")
  func head() {
    func count(_ text: String) -> Int { FileRules.checkHead(File("Sources/Wire/Frame.swift", text)).count }
    #expect(count("// What it owns.\n// What it must not know.\nimport A\n") == 0)
    #expect(count("// What it owns.\nimport A\n") == 1)
    #expect(count("import A\n// What it owns.\n// What it must not know.\n") == 1)
    #expect(count("\n// What it owns.\n// What it must not know.\n") == 1)
    #expect(count("//\n//\n") == 1)
    #expect(count("") == 1)
    #expect(FileRules.checkHead(File("Tests/WireTests/A.swift", "import A")).isEmpty)
  }

  @Test("a file in Sources has at most 400 lines")
  func length() {
    func count(_ lines: Int) -> Int {
      FileRules.checkLength(File("Sources/Wire/Frame.swift", String(repeating: "a\n", count: lines))).count
    }
    #expect(count(400) == 0)
    #expect(count(401) == 1)
  }

  @Test("a meaningless name is refused", arguments: ["FrameUtils", "ManagerOfFrames", "TestHelpers"])
  func name(name: String) {
    #expect(FileRules.checkName(File("Sources/Wire/\(name).swift", "")).count == 1)
    #expect(FileRules.checkName(File("Tests/WireTests/\(name).swift", "")).count == 1)
    #expect(FileRules.checkName(File("Sources/Wire/Frame.swift", name)).isEmpty)
  }

  @Test("the root holds the names that are allowed, and dot files")
  func topLevel() {
    let names = ["Package.swift", "Sources", "Tests", "scripts", "config", "README.md", ".ci", ".gitignore"]
    #expect(FileRules.checkTopLevel(names).isEmpty)
    #expect(FileRules.checkTopLevel(names + ["docs", "Makefile"]).map(\.path) == ["docs", "Makefile"])
  }

  @Test(
    "a path of one machine is refused anywhere",
    arguments: ["/ho" + "me/kim/bank", "// see /opt/sw" + "ift/usr", "x = '/Use" + "rs/lee'"])
  func places(text: String) {
    #expect(FileRules.checkContents(File("README.md", "a\n\(text)\n")).map(\.line) == [2])
  }

  @Test("work left for later is refused", arguments: ["TO" + "DO", "FIX" + "ME"])
  func promises(word: String) {
    #expect(
      FileRules.checkContents(File("Sources/Wire/Frame.swift", "a\n// \(word): b\n")).map(\.line) == [2])
    #expect(FileRules.checkContents(File("Sources/Wire/Frame.swift", "let MY_\(word)S = 1")).isEmpty)
  }

  @Test("a script is executable, names its interpreter and states its purpose")
  func script() {
    let good = "#!/usr/bin/env bash\n# Runs the chaos of the bank.\n"
    func count(_ text: String, _ isExecutable: Bool, path: String = "scripts/chaos") -> Int {
      FileRules.checkScript(File(path, text, isExecutable: isExecutable)).count
    }
    #expect(count(good, true) == 0)
    #expect(count(good, false) == 1)
    #expect(count("# Runs the chaos of the bank.\n", true) == 2)
    #expect(count("#!/usr/bin/env bash\nset -e\n", true) == 1)
    #expect(count("#!/usr/bin/env bash\n\n# Runs the chaos of the bank.\n", true) == 1)
    #expect(count("#!/usr/bin/env bash\n", true, path: ".ci/run") == 1)
    #expect(count("", false, path: "Sources/Wire/Frame.swift") == 0)
  }

  @Test("a sourced script is not executable and has a head as well")
  func sourced() {
    let text = "# Sourced by the scripts beside it.\n"
    #expect(FileRules.checkScript(File("scripts/prelude.bash", text)).isEmpty)
    #expect(FileRules.checkScript(File("scripts/prelude.bash", text, isExecutable: true)).count == 1)
    #expect(FileRules.checkScript(File("scripts/prelude.bash", "root=.\n")).count == 1)
  }

  @Test("a violation names the place first")
  func wording() {
    #expect("\(Violation("a/b.swift", line: 3, "is wrong"))" == "a/b.swift:3: is wrong")
    #expect("\(Violation("a/b.swift", "is wrong"))" == "a/b.swift: is wrong")
  }
}
