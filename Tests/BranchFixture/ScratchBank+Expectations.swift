// Configurations, receipts and expectations for a branch that several tests share.
import Foundation
import Testing

extension ScratchBank {
  /// Writes a configuration and returns its path. Durations are in the format of `bankctl`; `60s` means "until killed".
  public func configuration(
    deposit: Int = 2, loan: Int = 1, depositWork: String = "700ms", loanWork: String = "1.1s",
    speed: String = "1", more: String = "", name: String = "bank.json"
  ) throws -> String {
    try write(
      """
      {"windows": {"deposit": \(deposit), "loan": \(loan)},
       "work": {"deposit": "\(depositWork)", "loan": "\(loanWork)"}, "speed": "\(speed)"\(more)}
      """, to: name)
  }

  /// All receipts, in the order of their commits.
  public func receipts(at location: SourceLocation = #_sourceLocation) throws -> [JSON] {
    try lines("receipts", "--day", "all", at: location)
  }

  /// Expects that in one day exactly the tickets 1 to `count` have a receipt, one each.
  public func expectOneReceiptEach(
    _ count: Int, day: Int = 1, at location: SourceLocation = #_sourceLocation
  ) throws {
    let tickets = try receipts(at: location).filter { $0["day"].integer == day }.compactMap(
      \.["ticket"].integer)
    let counted = Dictionary(tickets.map { ($0, 1) }, uniquingKeysWith: +)
    #expect(
      counted.filter { $0.value > 1 }.isEmpty, "tickets with more than one receipt", sourceLocation: location)
    let missing = Set(1...max(count, 1)).subtracting(counted.keys).sorted()
    #expect(missing.isEmpty, "tickets without a receipt", sourceLocation: location)
    #expect(tickets.count == count, sourceLocation: location)
  }

  /// Expects that the audit finds nothing.
  public func expectClean(at location: SourceLocation = #_sourceLocation) throws {
    let outcome = try run("audit", "--json", at: location)
    let isClean = try outcome.code == 0 && outcome.json()["ok"].flag == true
    #expect(isClean, "\(outcome)\n\(isClean ? "" : diagnostics())", sourceLocation: location)
    #expect(try outcome.json().differences(from: Samples.audit) == [], sourceLocation: location)
  }

  /// Waits for `count` lines of this event and returns them: a worker writes its log in batches after the work.
  public func events(
    _ event: String, in log: String, count: Int, at location: SourceLocation = #_sourceLocation
  ) throws -> [[String: String]] {
    try waitUntil("\(log).log has \(count) lines of the event \(event)", within: .seconds(5), at: location) {
      events(event, in: log).count >= count
    }
    return events(event, in: log)
  }

  /// Fields of all lines of a log with this event.
  public func events(_ event: String, in log: String) -> [[String: String]] {
    self.log(log).split(separator: "\n").map { Self.fields(of: $0) }.filter { $0["event"] == event }
  }

  /// Fields of one logfmt line.
  public static func fields(of line: Substring) -> [String: String] {
    var fields: [String: String] = [:]
    for match in line.matches(of: /([a-z_]+)=("(?:[^"\\]|\\.)*"|\S*)/) {
      fields[String(match.1)] = match.2.trimmingCharacters(in: ["\""])
    }
    return fields
  }

  /// Runs a command that must be refused with this exit code and error code, in both languages and as JSON.
  public func expectRefusal(
    _ code: Int32, _ name: String, of arguments: String..., at location: SourceLocation = #_sourceLocation
  ) throws {
    var sentences: Set<String> = []
    for outputLanguage in OutputLanguage.allCases {
      let outcome = try launch(arguments, language: outputLanguage).finish(at: location)
      #expect(outcome.code == code, outcome.story, sourceLocation: location)
      #expect(outcome.out == "", "a refusal prints nothing to standard output", sourceLocation: location)
      // A command that takes longer than a second has printed its progress before the message.
      let message = outcome.err.split(separator: "\n").last.map(String.init) ?? ""
      #expect(message.hasPrefix("bankctl: "), outcome.story, sourceLocation: location)
      sentences.insert(message)
    }
    #expect(sentences.count == 2, "the message differs between the languages", sourceLocation: location)
    let outcome = try launch(arguments + ["--json"]).finish(at: location)
    #expect(outcome.code == code, outcome.story, sourceLocation: location)
    #expect(
      try outcome.json().differences(from: Samples.error) == [], outcome.story, sourceLocation: location)
    #expect(try outcome.json()["error"]["code"].text == name, outcome.story, sourceLocation: location)
  }
}
