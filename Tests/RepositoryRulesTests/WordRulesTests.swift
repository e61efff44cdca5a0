// Plants each banned word in comments, strings, pages and scripts, and words that only look like one.

import Testing

@Suite("The rule about words")
struct WordRulesTests {
  private func lines(_ path: String, _ text: String) -> [Int?] {
    WordRules.check(File(path, text)).map(\.line)
  }

  @Test(
    "each banned English word is refused in comments, strings, pages, scripts and settings",
    arguments: WordRules.inEnglish.map { $0.words.joined(separator: " ") })
  func english(words: String) {
    let sentence = "The branch \(words) x, too"
    for path in ["Sources/A/A.swift", "Tests/ATests/A.swift", "Tests/A/a.c", "Sources/A/include/a.h"] {
      #expect(lines(path, "let a = 1\n// \(sentence)\n") == [2])
      #expect(lines(path, "let a = \"\(sentence)\"\n") == [1])
      #expect(lines(path, "/* a\n \(sentence.uppercased()) */\n") == [2])
    }
    for path in [
      "README.md", "Sources/A/A.docc/One.md", "Sources/A/A.docc/a.cddl", "Sources/A/Assets/a.js",
      "scripts/check", ".ci/run", "config/bank.json", "config/bank.service", "Tests/ATests/a.sql",
    ] {
      #expect(lines(path, "\n\n\(sentence)\n") == [3])
      #expect(lines(path, "\n\(sentence.uppercased())\n\(sentence)") == [2, 3])
    }
  }

  @Test("words of a phrase are found over a line break, in lists and in strings that are joined")
  func broken() {
    for ban in WordRules.inEnglish where ban.words.count > 1 {
      let (first, rest) = (ban.words[0], ban.words.dropFirst().joined(separator: " "))
      #expect(lines("Sources/A/A.swift", "  /// A client \(first)\n  /// \(rest) x.\n") == [1])
      #expect(lines("Sources/A/A.swift", "let a = \"it \(first) \"\n  + \"\(rest) x\"\n") == [1])
      #expect(lines("Sources/A/A.swift", "let a = \"\"\"\n  it \(first) \\\n  \(rest) x\n  \"\"\"\n") == [2])
      #expect(lines("README.md", "A client \(first)\n\(rest) x.\n") == [1])
      #expect(lines("README.md", "A client \(first) *\(rest)* x.\n") == [1])
      #expect(lines("scripts/check", "# it \(first)\n# \(rest) x\n") == [1])
    }
  }

  @Test("a phrase ends with its sentence, its argument and its string")
  func separate() {
    for ban in WordRules.inEnglish where ban.words.count > 1 {
      let (first, rest) = (ban.words[0], ban.words.dropFirst().joined(separator: " "))
      #expect(lines("Sources/A/A.swift", "// so it \(first). \(rest) x\n").isEmpty)
      #expect(lines("Sources/A/A.swift", "call(\"it \(first)\", \"\(rest) x\")\n").isEmpty)
      #expect(lines("Sources/A/A.swift", "let a = \"it \(first) \\(x) \(rest) x\"\n").isEmpty)
      #expect(lines("README.md", "it \(first) `\(rest)` x\n").isEmpty)
    }
  }

  @Test("the banned words are refused in names, and names of which they are only a part are allowed")
  func names() {
    for ban in WordRules.inEnglish {
      let parts = ban.words.map { $0.prefix(1).uppercased() + $0.dropFirst() }
      let name = "x" + parts.joined() + "Here"
      #expect(lines("Sources/A/A.swift", "let a = 1\nlet \(name) = 1\n") == [2])
      #expect(lines("Sources/A/A.swift", "let a = \"x \\(\(name)) x\"\n") == [1])
      #expect(lines("Sources/A/A.swift", "struct URL\(parts.joined()) {}\n") == [1])
      #expect(lines("Tests/A/a.c", "int x_\(ban.words.joined(separator: "_"));\n") == [1])
    }
    for name in [
      "isNoLonger", "thereIsNo", "goOne", "forGoods", "manewer", "isTolderance", "somebodies", "isNotA",
    ] {
      #expect(lines("Sources/A/A.swift", "let \(name) = 1\n").isEmpty, "\(name)")
    }
  }

  @Test(
    "other English words are allowed",
    arguments: [
      "There is no customer.", "If there is\n// no customer, x", "It is no longer served.",
      "The value is a no.",
      "This is not a database.", "It goes into on_exit.", "for goodness", "of whole rows", "a retold story",
      "is untold", "It ran on.", "no bodies", "every body", "some body",
    ])
  func allowed(sentence: String) {
    #expect(lines("Sources/A/A.swift", "// \(sentence)\n").isEmpty)
    #expect(lines("README.md", sentence).isEmpty)
  }

  @Test("each banned Korean word is refused", arguments: WordRules.bannedInKorean.map(\.text))
  func korean(text: String) {
    for path in ["Sources/A/A.swift", "Tests/ATests/A.swift"] {
      #expect(lines(path, "let a = 1\nlet b = \"은행 \(text) 1\"\n") == [2])
      #expect(lines(path, "// 은행: \(text)\n") == [1])
    }
    for path in ["README.md", "scripts/setup", "config/bank.json", "Sources/A/A.docc/One.md"] {
      #expect(lines(path, "\n은행 \(text)\n") == [2])
    }
  }

  @Test("a banned Korean word is refused with a particle")
  func particles() {
    for ban in WordRules.bannedInKorean where ban.extent == .word {
      for particle in ["이", "은", "을", "의", "과", "에서", "입니다"] {
        #expect(lines("README.md", "2\(ban.text)\(particle) 있는") == [1])
      }
    }
  }

  @Test(
    "longer Korean words and other meanings are allowed",
    arguments: [
      "판매 기록과 기판, 판단", "응답합니다", "요청하면 신청한 고객", "책임대로", "글자와 글로벌", "감사합니다", "기수열",
      "기계적", "자동 완성", "번호표 찾기", "일시 중지", "상대답게", "보여 줍니다", "맛있는 쥬스를 만들어 드려요!", "기간",
    ])
  func allowedInKorean(text: String) {
    #expect(lines("Sources/A/A.swift", "let a = \"\(text)\"\n").isEmpty)
    #expect(lines("README.md", text).isEmpty)
  }

  @Test("a violation names the words and what to write instead")
  func wording() {
    for ban in WordRules.inEnglish {
      let words = ban.words.joined(separator: " ")
      #expect(
        WordRules.check(File("README.md", "a\n\(words)\n")).map(\.description) == [
          "README.md:2: contains \"\(words)\"; write \(ban.instead)"
        ])
    }
  }
}
