// Lists of customers: every kind of good and bad line, and texts of every form.
import BankModel
import Glibc
import JSON
import Posix
import Testing
import Wire

@testable import BankctlCommands

func parse(_ text: String) throws(CustomerRecord.Fault) -> CustomerRecord {
  try CustomerRecord(Array(text.utf8)[...])
}

/// The fault of a line; nil for none.
func fault(_ text: String) -> CustomerRecord.Fault? {
  do throws(CustomerRecord.Fault) {
    _ = try parse(text)
    return nil
  } catch {
    return error
  }
}

@Test("the customers of a repeated list are counted without the tickets of others between them")
func awaitedCount() {
  func report(_ spans: Int64, lastCount: Int64 = 1) -> EnqueuedReport {
    EnqueuedReport(
      day: 1, first: 0, last: 0, count: 0, known: spans,
      alreadyIssuedTickets: (1...spans).map {
        TicketSpan(day: 1, first: 2 * $0, last: 2 * $0 + ($0 == spans ? lastCount - 1 : 0))
      })
  }
  // From here on the last span may contain tickets of other requests.
  let limit = Int64(TicketSpan.exactLimit)
  for spans in [limit, limit + 1, Int64(TicketSpan.limit)] {
    #expect(report(spans, lastCount: 500).awaitedCount == spans)
  }
  #expect(report(limit - 1, lastCount: 500).awaitedCount == limit - 2 + 500, "all are of the list")
  // New tickets 5 to 9, of which 6 is known, too.
  let both = EnqueuedReport(
    day: 1, first: 5, last: 9, count: 5, known: 3,
    alreadyIssuedTickets: [TicketSpan(day: 1, first: 3, last: 6)])
  #expect(both.awaitedCount == 7)
}

@Test("a line has all fields, or none, in any order")
func goodLines() throws {
  let full = try parse(
    #" { "key" : "k\u00e9\ud83d\ude42\n" , "account":12,"amount":50000,"grade":"vip","service":"deposit"} "#)
  #expect(full.service == .deposit && full.priority == .vip && full.amount == 50_000 && full.account == 12)
  #expect(full.key == "ké🙂\n")
  #expect(try parse("{}") == CustomerRecord())
  #expect(try parse("{ }\r") == CustomerRecord())
  #expect(try parse(#"{"amount":1000000000000}"#).amount == 1_000_000_000_000)
  #expect(try parse("{\"key\":\"\(String(repeating: "k", count: 200))\"}").key?.utf8.count == 200)
}

@Test("a value that is not an object is refused", arguments: ["", "[]", "deposit", "\u{FEFF}{}"])
func noObject(line: String) { #expect(fault(line) == .noObject) }

@Test(
  "invalid JSON is refused with its place",
  arguments: [
    ("{", .unexpectedEnd, 2), ("{\"service\"", .unexpectedEnd, 11), ("{\"service\":}", .unexpected("}"), 12),
    ("{}}", .trailing, 3), ("{} {}", .trailing, 4), ("{,}", .unexpected(","), 2),
    ("{\"amount\":1,}", .unexpected("}"), 13), ("{\"amount\":1 \"account\":2}", .unexpected("\""), 13),
    ("{amount:1}", .unexpected("a"), 2), ("{'amount':1}", .unexpected("'"), 2),
    ("{\"amount\":01}", .badNumber, 12), ("{\"amount\":-}", .badNumber, 12),
    ("{\"amount\":1.}", .badNumber, 13), ("{\"amount\":1e}", .badNumber, 13),
    ("{\"amount\":+1}", .unexpected("+"), 11), ("{\"amount\":nul}", .unexpected("n"), 11),
    ("{\"amount\":NaN}", .unexpected("N"), 11), ("{\"key\":\"a", .unexpectedEnd, 10),
    ("{\"key\":\"a\\", .unexpectedEnd, 11), ("{\"key\":\"\\x\"}", .badEscape, 10),
    ("{\"key\":\"\\u12\"}", .badEscape, 11), ("{\"key\":\"\\u+123\"}", .badEscape, 11),
    ("{\"key\":\"\\ud83d\"}", .badEscape, 15), ("{\"key\":\"\\ud83d\\u0041\"}", .badEscape, 21),
    ("{\"key\":\"\\ude42\"}", .badEscape, 15), ("{\"key\":\"a\tb\"}", .controlCharacter, 10),
  ] as [(String, JSONFault.Reason, Int)])
func badJSON(line: String, reason: JSONFault.Reason, column: Int) {
  #expect(fault(line) == .json(JSONFault(reason, line: 1, column: column)))
}

@Test("invalid UTF-8 is refused")
func notUTF8() {
  #expect(throws: CustomerRecord.Fault.json(JSONFault(.notUTF8, line: 1, column: 11))) {
    try CustomerRecord((Array("{\"key\":\"".utf8) + [0xC3, 0x28] + Array("\"}".utf8))[...])
  }
}

@Test("an invalid value of a field is refused by its name")
func badFields() {
  #expect(fault(#"{"sevice":"loan"}"#) == .unknownField("sevice", near: ["service"]))
  #expect(fault(#"{"colour":"red"}"#) == .unknownField("colour", near: []))
  #expect(fault(#"{"amount":1,"amount":1}"#) == .repeatedField(.amount))
  #expect(fault(#"{"service":"Depositt"}"#) == .unknownName(.service, "Depositt", near: ["deposit"]))
  #expect(fault(#"{"service":"lone"}"#) == nil, "only the bank knows whether it exists")
  #expect(fault(#"{"service":"lone","amount":5}"#) == nil, "only the bank knows whether it moves money")
  #expect(fault(#"{"grade":"VIP"}"#) == .unknownName(.grade, "VIP", near: ["vip"]))
  for value in ["1", "null", "true", "{}", "[1]", "-0.5"] {
    #expect(fault("{\"service\":\(value)}") == .wrongType(.service))
    #expect(fault("{\"grade\":\(value)}") == .wrongType(.grade))
    #expect(fault("{\"key\":\(value)}") == .wrongType(.key))
  }
  for value in ["\"1\"", "null", "1.5", "1e3", "1.0", "9223372036854775808", "[]"] {
    #expect(fault("{\"amount\":\(value)}") == .wrongType(.amount))
    #expect(fault("{\"account\":\(value)}") == .wrongType(.account))
    #expect(fault("{\"priority\":\(value)}") == .wrongType(.priority))
  }
  for number: Int64 in [0, -1, 1_000_000_000_001, .max] {
    #expect(fault("{\"amount\":\(number)}") == .outOfRange(.amount, number, 1...Limits.amount))
  }
  #expect(fault(#"{"account":0}"#) == .outOfRange(.account, 0, 1...Limits.account))
  #expect(fault(#"{"key":""}"#) == .badKey(length: 0))
  #expect(fault("{\"key\":\"\(String(repeating: "한", count: 67))\"}") == .badKey(length: 201))
}

@Test("every fault has a sentence in both languages")
func sentences() {
  let faults: [CustomerRecord.Fault] = [
    .tooLong(limit: 5), .noObject, .json(JSONFault(.trailing, line: 1, column: 3)),
    .json(JSONFault(.badEscape, line: 1, column: 3)), .json(JSONFault(.notUTF8, line: 1, column: 3)),
    .unknownField("x", near: []), .unknownField("x", near: ["key"]), .repeatedField(.key),
    .wrongType(.amount),
    .wrongType(.key), .unknownName(.priority, "x", near: []), .outOfRange(.amount, 0, 1...2),
    .badKey(length: 0),
    .badKey(length: 300), .twoPayloads, .badBase64(place: 3), .payloadTooLong(length: 1_048_577),
    .wrongType(.payloadBase64), .twoMoments, .noMoment("09:00"), .noDuration("5", .missingUnit),
    .tooFar(.after),
    .tooFar(.at),
  ]
  for fault in faults {
    let refusal = CustomerList.Refusal.line(3, fault)
    let english = MessageCatalog(language: .english).sentence(refusal, file: "-")
    #expect(english.hasPrefix("Line 3 of standard input: ") && english.hasSuffix("No customers were added."))
    let korean = MessageCatalog(language: .korean).sentence(refusal, file: "people.jsonl")
    #expect(korean.hasPrefix("'people.jsonl'의 3번째 줄: ") && korean.hasSuffix("추가된 고객이 없습니다."))
  }
}

@Test("a text is cut into the same lines however it is divided")
func cutting() {
  let text = Array("one\n\ntwo\r\n0123456789\n01234567890\nlast".utf8)
  func lines(portion: Int) -> [String] {
    var cutter = LineSplitter(limit: 10)
    var lines: [String] = []
    let note: (Int64, LineFile.Line) -> Void = { number, line in
      if case .bytes(let bytes) = line {
        lines.append("\(number):\(String(decoding: bytes, as: UTF8.self))")
      } else {
        lines.append("\(number):too long")
      }
    }
    for start in stride(from: 0, to: text.count, by: portion) {
      cutter.consume(text[start..<min(start + portion, text.count)], note)
    }
    cutter.finish(note)
    return lines
  }
  let expected = ["1:one", "2:", "3:two\r", "4:0123456789", "5:too long", "6:last"]
  for portion in 1...text.count { #expect(lines(portion: portion) == expected) }
}

/// A test's file with this content, already unlinked.
private func file(_ text: String) throws -> LineFile {
  let path = "/tmp/bank-lines-\(CurrentProcess.pid)-\(RandomSeed.fromSystem())"
  let file = try FileDescriptor.open(path, [.readWrite, .create, .exclusive])
  unlink(path)
  try file.writeAll(Array(text.utf8))
  return LineFile(file)
}

@Test("a list is checked whole, skips empty lines, and comes in parts with the last one marked")
func parts() throws {
  let text = String(repeating: "{}\n\n", count: 4_500) + #"{"service":"loan","key":"k"}"#
  let list = try CustomerList(try file(text), seed: 1)
  #expect(list.count == 4_501 && !list.isRepeatable)
  var sizes: [Int] = []
  var last: [Bool] = []
  var entries: [EnqueueEntry] = []
  try list.forEachPart(refusing: { _ in .readerGone }) { (part: EnqueueList) throws(CommandError) in
    sizes.append(part.entries.count)
    last.append(part.isLast)
    entries += part.entries
  }
  #expect(sizes == [2_000, 2_000, 501] && last == [false, false, true])
  #expect(entries.last?.service == .loan && entries.last?.key == "k")
  var again: [EnqueueEntry] = []
  try list.forEachPart(refusing: { _ in .readerGone }) { (part: EnqueueList) throws(CommandError) in
    again += part.entries
  }
  #expect(again == entries)
  #expect(Set(entries.map(\.service)).count == 2)
}

@Test("a byte order mark in front of a list is skipped, and only there")
func byteOrderMark() throws {
  let list = try CustomerList(try file("\u{FEFF}" + #"{"service":"loan","key":"k"}"# + "\n{}\n"), seed: 1)
  #expect(list.count == 2)
  #expect(throws: CustomerList.Refusal.empty) { _ = try CustomerList(try file("\u{FEFF}"), seed: 1) }
  #expect(throws: CustomerList.Refusal.self) { _ = try CustomerList(try file("{}\n\u{FEFF}{}"), seed: 1) }
}

@Test("one bad line refuses the whole list and is named by its number")
func badList() throws {
  #expect(throws: CustomerList.Refusal.line(3, .wrongType(.amount))) {
    _ = try CustomerList(try file("{}\n\n{\"amount\":\"5\"}\n{}"), seed: 1)
  }
  let long = String(repeating: " ", count: LineFile.limit + 1)
  #expect(throws: CustomerList.Refusal.line(2, .tooLong(limit: LineFile.limit))) {
    _ = try CustomerList(try file("{}\n\(long)\n{}"), seed: 1)
  }
}

@Test("a list in which all customers have a key can be sent again")
func repeatable() throws {
  #expect(try CustomerList(try file(#"{"key":"a"}"# + "\n" + #"{"key":"b"}"#), seed: 1).isRepeatable)
  #expect(try !CustomerList(try file(#"{"key":"a"}"# + "\n{}"), seed: 1).isRepeatable)
}

@Test("a caller that rejects a part gets no further one")
func unwanted() throws {
  let list = try CustomerList(try file(String(repeating: "{}\n", count: 10_000)), seed: 1)
  var parts = 0
  #expect(throws: (any Error).self) {
    try list.forEachPart(refusing: { _ in .readerGone }) { (_: EnqueueList) throws(CommandError) in
      parts += 1
      throw .readerGone
    }
  }
  #expect(parts == 1)
}
