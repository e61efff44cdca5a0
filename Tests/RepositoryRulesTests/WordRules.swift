// Words that texts for people do not contain: comments, strings, messages, pages, scripts and settings. Names
// in Swift and C are judged by the English words alone. There is no list of exceptions. Each word below is built from pieces, and a
// single syllable is escaped, because this file is judged too.

enum WordRules {
  /// English words in lower case, one after the other. A line break, a comment mark or the end of a string may
  /// be between them.
  struct BannedWord {
    let words: [String]
    let instead: String
    /// The words are allowed after this one.
    var notAfter: String?
    /// The words are allowed before this one.
    var notBefore: String?

    init(_ words: String, _ instead: String, notAfter: String? = nil, notBefore: String? = nil) {
      self.words = words.split(separator: " ").map(String.init)
      self.instead = instead
      self.notAfter = notAfter
      self.notBefore = notBefore
    }
  }

  private static let actor = "the actor, such as a client, a worker or the caller"

  static let inEnglish: [BannedWord] =
    [
      BannedWord("who" + "ever", actor), BannedWord("whom" + "ever", actor),
      BannedWord("some" + "body", actor),
      BannedWord("no" + "body", "no client, no process, or a positive sentence"),
      BannedWord("every" + "body", "all clients, all customers"),
      BannedWord("an" + "ew", "again, from scratch"),
      BannedWord("for go" + "od", "permanently"),
      BannedWord("of wh" + "om", "whose, with, or two sentences"),
      BannedWord("is n" + "o", "\"is not a\"", notAfter: "there", notBefore: "longer"),
    ]
    + ["is", "are", "was", "were", "be", "been", "being"].map {
      BannedWord("\($0) to" + "ld", "receives, is sent, is notified")
    } + ["go", "goes", "going", "gone", "went"].map { BannedWord("\($0) o" + "n", "continues, resumes") }

  /// The part of a run of Hangul that a Korean ban covers.
  enum Extent {
    case anywhere
    /// At the start of the run, so that the end of a longer word is allowed.
    case start
    /// The whole run, but for a particle, so that longer words are allowed.
    case word
  }

  struct KoreanBan {
    let text: String
    let extent: Extent
    let instead: String

    init(_ text: String, _ instead: String, _ extent: Extent = .start) {
      (self.text, self.instead, self.extent) = (text, instead, extent)
    }
  }

  /// Terms that the glossary does not have, and translations word by word. A word with another meaning in
  /// other contexts is banned only in the context that shows the meaning.
  static let bannedInKorean: [KoreanBan] = [
    KoreanBan("대" + "답", "응답"), KoreanBan("말" + "합니다", "보냅니다, 출력합니다"),
    KoreanBan("듣는 프" + "로세스", "연결을 받는 프로세스", .anywhere),
    KoreanBan("\u{D310}", "버전", .word), KoreanBan("임" + "대", "리스(점유 시한)"),
    KoreanBan("기" + "수", "에포크", .word), KoreanBan("번째 기" + "간", "에포크", .anywhere),
    KoreanBan("미뤄" + "진", "예약, 재시도 대기"), KoreanBan("지연" + "된 고객", "예약, 재시도 대기"),
    KoreanBan("지연 고" + "객", "예약, 재시도 대기"),
    KoreanBan("내보" + "내", "취소"), KoreanBan("강제로 끝" + "내", "강제 종료"),
    KoreanBan("일시 정" + "지", "일시 중지"), KoreanBan("일시정" + "지", "일시 중지"),
    KoreanBan("멈" + "춤", "일시 중지, 응답 없음"), KoreanBan("멈추" + "기", "일시 중지"),
    KoreanBan("멈" + "췄", "일시 중지되었습니다, 응답하지 않습니다"),
    KoreanBan("맡기" + "는 내용", "페이로드"), KoreanBan("맡길 내" + "용", "페이로드"),
    KoreanBan("맡긴 내" + "용", "페이로드"),
    KoreanBan("신" + "호", "시그널"), KoreanBan("감" + "사", "점검", .word),
    KoreanBan("장" + "부", "데이터베이스, 원장"), KoreanBan("거르" + "기", "필터"),
    KoreanBan("거스름돈 받" + "기", "반환"), KoreanBan("반" + "납", "반환"),
    KoreanBan("낱" + "말", "인수, 텍스트"), KoreanBan("단" + "어", "인수, 텍스트"),
    KoreanBan("\u{AE00}", "텍스트, 문자열", .word),
    KoreanBan("작업" + "자", "워커"), KoreanBan("작업 프로" + "그램", "워커"),
    KoreanBan("수호" + "자", "가디언"), KoreanBan("명령 실행" + "기", "러너"),
    KoreanBan("혼" + "돈", "카오스"), KoreanBan("타" + "격", "장애 주입"),
    KoreanBan("컴퓨" + "터", "호스트, 시스템"), KoreanBan("기" + "계", "호스트, 시스템", .word),
    KoreanBan("자동완" + "성", "자동 완성"), KoreanBan("단" + "추", "버튼"),
    KoreanBan("주세" + "요", "지정하세요, 입력하세요, 동사의 -하세요", .anywhere),
    KoreanBan("를 주" + "면", "지정하면", .anywhere), KoreanBan("을 주" + "면", "지정하면", .anywhere),
    KoreanBan("를 주" + "지", "지정하지", .anywhere), KoreanBan("을 주" + "지", "지정하지", .anywhere),
    KoreanBan("되풀" + "이", "다시 실행, 반복"),
    KoreanBan("청" + "하", "요청하"), KoreanBan("청" + "한", "요청한"), KoreanBan("청" + "했", "요청했"),
    KoreanBan("잃은 것" + "은 없", "유실된 고객은 없", .anywhere), KoreanBan("엉" + "뚱", "예상하지 못한"),
    KoreanBan("까" + "닭", "이유, 원인"), KoreanBan("드립" + "니다", "-합니다", .anywhere),
  ]

  private static let particles: Set<String> = [
    "", "이", "가", "은", "는", "을", "를", "의", "과", "와", "도", "만", "에", "에서", "에는", "로", "으로", "까지", "부터",
    "보다", "마다", "이나", "이며", "이고", "이라", "이면", "인", "입니다", "이었습니다", "이지만",
  ]

  static func check(_ file: File) -> [Violation] {
    let prose = file.prose
    return checkEnglish(prose, file.path) + checkKorean(prose, file.path) + checkNames(file)
  }

  // MARK: - English

  struct Word {
    let text: String
    /// Counts from 1.
    let line: Int
    /// Only spaces, line breaks and marks of comments and strings are between this word and the one before.
    let isNext: Bool
  }

  private static let byFirstWord = Dictionary(grouping: inEnglish) { $0.words[0] }

  private static func checkEnglish(_ prose: [UInt8], _ path: String) -> [Violation] {
    let words = words(of: prose)
    return words.indices.flatMap { index in
      bans(in: words, at: index).map {
        Violation(
          path, line: words[index].line,
          "contains \"\($0.words.joined(separator: " "))\"; write \($0.instead)")
      }
    }
  }

  /// The bans of which the words begin at this one.
  static func bans(in words: [Word], at index: Int) -> [BannedWord] {
    (byFirstWord[words[index].text] ?? []).filter { isUsed($0, words, index) }
  }

  private static func isUsed(_ ban: BannedWord, _ words: [Word], _ first: Int) -> Bool {
    let end = first + ban.words.count
    guard end <= words.count else { return false }
    for index in (first + 1)..<max(end, first + 1) {
      guard words[index].isNext, words[index].text == ban.words[index - first] else { return false }
    }
    if let allowed = ban.notAfter, first > 0, words[first].isNext, words[first - 1].text == allowed {
      return false
    }
    if let allowed = ban.notBefore, end < words.count, words[end].isNext, words[end].text == allowed {
      return false
    }
    return true
  }

  private static func words(of prose: [UInt8]) -> [Word] {
    var words: [Word] = []
    var line = 1
    var isNext = false
    var start: Int?
    for at in 0...prose.count {
      let byte = at < prose.count ? prose[at] : 0
      switch byte {
      case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"):
        if start == nil { start = at }
        continue
      default: break
      }
      if let first = start {
        let text = String(decoding: prose[first..<at], as: UTF8.self).lowercased()
        words.append(Word(text: text, line: line, isNext: isNext))
        (start, isNext) = (nil, true)
      }
      switch byte {
      case UInt8(ascii: "\n"): line += 1
      case UInt8(ascii: " "), UInt8(ascii: "\t"), UInt8(ascii: "/"), UInt8(ascii: "#"), UInt8(ascii: "*"),
        UInt8(ascii: ">"), UInt8(ascii: ";"), UInt8(ascii: "\\"):
        break
      default: isNext = false
      }
    }
    return words
  }

  // MARK: - Korean

  private static func checkKorean(_ prose: [UInt8], _ path: String) -> [Violation] {
    guard prose.contains(where: isLeadOfHangul) else { return [] }
    let lines = prose.split(separator: UInt8(ascii: "\n"), omittingEmptySubsequences: false)
    return lines.enumerated().flatMap { offset, bytes -> [Violation] in
      guard bytes.contains(where: isLeadOfHangul) else { return [] }
      let line = String(decoding: bytes, as: UTF8.self)
      return bannedInKorean.filter { isUsed($0, line) }.map {
        Violation(path, line: offset + 1, "contains \($0.text); write \($0.instead)")
      }
    }
  }

  private static func isUsed(_ ban: KoreanBan, _ line: String) -> Bool {
    line.ranges(of: ban.text).contains { range in
      if ban.extent == .anywhere { return true }
      if let before = line[..<range.lowerBound].last, isHangul(before) { return false }
      let rest = line[range.upperBound...].prefix(while: isHangul)
      return ban.extent == .start || particles.contains(String(rest))
    }
  }

  private static func isLeadOfHangul(_ byte: UInt8) -> Bool { (0xEA...0xED).contains(byte) }

  private static func isHangul(_ character: Character) -> Bool { ("가"..."힣").contains(character) }
}

extension File {
  /// The text that people read. In Swift and C these are comments and strings. Other code becomes zeros, which
  /// end a phrase; quotes around strings and `+` become spaces, because they join the strings of one message.
  /// Bytes and lines keep their places.
  fileprivate var prose: [UInt8] {
    let bytes = Array(text.utf8)
    guard isSwift || isC else { return bytes }
    let code = Array(SourceText.code(of: text, in: isC ? .c : .swift).utf8)
    var prose = bytes
    for at in bytes.indices where code[at] == bytes[at] {
      switch bytes[at] {
      case UInt8(ascii: " "), UInt8(ascii: "\n"): break
      case UInt8(ascii: "\""), UInt8(ascii: "+"): prose[at] = UInt8(ascii: " ")
      default: prose[at] = 0
      }
    }
    return prose
  }
}
