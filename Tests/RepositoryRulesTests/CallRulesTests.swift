// Plants each forbidden word and module, and the places where the word is allowed.

import Testing

@Suite("The rules about calls")
struct CallRulesTests {
  @Test("each word is refused in the code of Sources", arguments: CallRules.bannedInSources.map(\.word))
  func sources(word: String) {
    for path in ["Sources/Posix/Spawn.swift", "Sources/CLinux/linux.c", "Sources/CLinux/include/CLinux.h"] {
      let found = CallRules.checkBannedWords(File(path, "let a = 1\n  \(word) something\n"))
      #expect(found.map(\.line) == [2], "\(path)")
    }
  }

  @Test("each word is refused in the code of Tests", arguments: CallRules.bannedInTests.map(\.word))
  func tests(word: String) {
    let found = CallRules.checkBannedWords(File("Tests/WireTests/A.swift", "x\n\(word) y\n"))
    #expect(found.contains { $0.line == 2 && $0.message.contains("`\(word)`") })
  }

  @Test(
    "comments, strings and longer names may contain the word",
    arguments: [
      "// why there is no fork() here", "/* fork( /* fork( */ fork( */ let a = 1", "let a = 1  // fork(",
      "\"fork(\"", "#\"a \" fork(\"#", "\"\"\"\n  fork( \" fork(\n\"\"\"", "\"a \\\" fork(\"", "pitchfork()",
    ])
  func innocent(text: String) {
    #expect(CallRules.checkBannedWords(File("Sources/Posix/Spawn.swift", text)).isEmpty)
  }

  @Test(
    "code beside a comment or a string, and inside an interpolation, is code",
    arguments: [
      "/* a */ fork()", "\"a\" + fork()", "\"a \\(f(1) + fork()) b\"", "#\"a \\#(fork())\"#",
      "\"\"\"\na\n\"\"\"; fork()",
      "\"\" + fork()", "\"\\\\\" + fork()",
    ])
  func code(text: String) {
    #expect(CallRules.checkBannedWords(File("Sources/Posix/Spawn.swift", text)).count == 1)
  }

  @Test("a quote as a character of C opens no string")
  func characters() {
    #expect(CallRules.checkBannedWords(File("Sources/CLinux/a.c", "char a = '\"'; fork();")).count == 1)
    #expect(CallRules.checkBannedWords(File("Sources/CLinux/a.c", "char a = '\\''; fork();")).count == 1)
  }

  @Test("words forbidden in Sources are allowed in a test, and the other way round")
  func elsewhere() {
    #expect(CallRules.checkBannedWords(File("Tests/PosixTests/A.swift", "DispatchQueue.main")).isEmpty)
    #expect(CallRules.checkBannedWords(File("scripts/bench", "usle" + "ep 3")).isEmpty)
  }

  @Test(
    "a pure floor imports no system",
    arguments: ["Foundation", "FoundationEssentials", "Glibc", "Dispatch"], CallRules.pureTargets.sorted())
  func pure(module: String, target: String) {
    let file = File("Sources/\(target)/A.swift", "// head\nimport \(module)\n")
    #expect(CallRules.checkModules(file).map(\.line) == [2])
  }

  @Test(
    "a small process links no Foundation, but has the C library", arguments: CallRules.smallTargets.sorted())
  func small(target: String) {
    #expect(CallRules.checkModules(File("Sources/\(target)/A.swift", "import Foundation")).count == 1)
    #expect(CallRules.checkModules(File("Sources/\(target)/A.swift", "public import Dispatch")).count == 1)
    #expect(CallRules.checkModules(File("Sources/\(target)/A.swift", "import Glibc")).isEmpty)
    #expect(CallRules.checkModules(File("Sources/\(target)/A.swift", "// import Foundation")).isEmpty)
  }

  @Test("the command line may use Foundation")
  func commandLine() {
    #expect(CallRules.checkModules(File("Sources/BankctlCommands/A.swift", "import Foundation")).isEmpty)
  }
}
