// Words that are forbidden in the code, each with its replacement. Comments and strings may contain them. The
// lists are data: a new ban is a line here. Only the text of a file is judged.

enum CallRules {
  struct BannedWord {
    let word: String
    let instead: String
  }

  static let bannedInSources: [BannedWord] = [
    BannedWord(word: "fork(", instead: "posix_spawn; Swift must not run between fork and exec"),
    BannedWord(word: "vfork(", instead: "posix_spawn; Swift must not run between fork and exec"),
    BannedWord(word: "try" + "!", instead: "a typed error that names the remedy"),
    BannedWord(
      word: "fatal" + "Error(", instead: "precondition for a broken invariant, an error for the rest"),
    BannedWord(word: "DispatchQueue", instead: "the event loop; a process is one thread"),
    BannedWord(word: "Task {", instead: "the event loop; a process is one thread"),
    BannedWord(word: "Task.detached", instead: "the event loop; a process is one thread"),
    BannedWord(word: "async let", instead: "the event loop; a process is one thread"),
    BannedWord(word: "usle" + "ep(", instead: "a timer of the event loop"),
    BannedWord(word: "sle" + "ep(", instead: "a timer of the event loop"),
    BannedWord(
      word: "Command" + "Line.arguments", instead: "CurrentProcess.arguments, which keep every byte"),
  ]

  static let bannedInTests: [BannedWord] = [
    BannedWord(word: "Task.sle" + "ep", instead: "waiting for the condition itself"),
    BannedWord(word: "Thread.sle" + "ep", instead: "waiting for the condition itself"),
    BannedWord(word: "usle" + "ep", instead: "waiting for the condition itself"),
    BannedWord(word: "sle" + "ep(", instead: "waiting for the condition itself"),
    BannedWord(word: ".disab" + "led(", instead: "a repair of the test or the code"),
    BannedWord(word: "import XCTest", instead: "import Testing; scripts/test runs nothing else"),
  ]

  static func checkBannedWords(_ file: File) -> [Violation] {
    guard file.isSwift || file.isC else { return [] }
    let bans = file.isSource ? bannedInSources : file.isTest ? bannedInTests : []
    return file.code.flatMap { line, text in
      bans.filter { containsWord(text, $0.word) }.map {
        Violation(file.path, line: line, "contains `\($0.word)`; use \($0.instead)")
      }
    }
  }

  /// True if the word is there and is not the end of a longer name.
  private static func containsWord(_ text: Substring, _ word: String) -> Bool {
    text.ranges(of: word).contains { range in
      guard let before = text[..<range.lowerBound].last else { return true }
      return !(before.isLetter || before.isNumber || before == "_")
    }
  }

  private static let foundation: Set<String> = [
    "Foundation", "FoundationEssentials", "FoundationNetworking", "Dispatch",
  ]
  private static let libc: Set<String> = ["Glibc", "Musl"]

  /// The pure floors use no system at all; the small processes link no Foundation, which would double them.
  static let pureTargets: Set<String> = [
    "Time", "ByteText", "BankModel", "Arguments", "JSON", "QueueCore", "StockCore", "VendingCore", "Wire",
    "WebPages",
    "WebCore",
  ]
  static let smallTargets: Set<String> = [
    "Posix", "Transport", "Supervision", "Logging", "Teller", "JuiceStation", "bank-teller", "bank-juice",
    "Guardian", "bank-guardian", "ServiceProcess", "StockService", "StockClient", "bank-stockd",
    "VendingMachine", "VendingClient", "bank-vending", "CommandRunner", "CommandExecutor",
    "bank-runner", "JSONOutput", "WebServer", "WebInterface", "bank-web", "Postgres",
    "PostgresStore", "PostgresQueries", "PostgresBackend",
  ]

  static func checkModules(_ file: File) -> [Violation] {
    guard file.isSource, file.isSwift, let target = file.target else { return [] }
    let refused =
      pureTargets.contains(target)
      ? foundation.union(libc) : smallTargets.contains(target) ? foundation : []
    return file.imports.filter { refused.contains($0.module) }.map { line, module in
      Violation(file.path, line: line, "\(target) must not import \(module)")
    }
  }
}
