// Payloads on their way in and out: bytes as base64, lines of a list, parts that fit into a frame, and the
// display of a ticket.
import BankModel
import Configuration
import Glibc
import JSON
import Posix
import Testing
import Wire

@testable import BankctlCommands

@Test(
  "the examples of RFC 4648 in base64",
  arguments: zip(
    ["", "f", "fo", "foo", "foob", "fooba", "foobar"],
    ["", "Zg==", "Zm8=", "Zm9v", "Zm9vYg==", "Zm9vYmE=", "Zm9vYmFy"]))
func base64Vectors(plain: String, coded: String) throws {
  #expect(Base64.encode(Array(plain.utf8)) == coded)
  #expect(try Base64.decode(coded) == Array(plain.utf8))
}

@Test("any bytes survive base64, and invalid base64 is refused at its place")
func base64Property() throws {
  for length in 0..<70 {
    let bytes = (0..<length).map { _ in UInt8.random(in: 0...255) }
    #expect(try Base64.decode(Base64.encode(bytes)) == bytes, "\(bytes)")
  }
  for (text, place) in [
    ("Zg", 3), ("Zg=", 4), ("Z===", 2), ("====", 1), ("Zg==Zg==", 3), ("Zm9 ", 4), ("Zh==", 2), ("Zm9=", 3),
    ("-_--", 1), ("Zm9v\n", 5), ("한==", 1),
  ] {
    #expect(throws: Base64.Fault(place: place), "\(text)") { try Base64.decode(text) }
  }
}

@Test("a line carries text or bytes, and never both")
func payloadLines() throws {
  #expect(try parse(#"{"payload":"a\u0000열"}"#).payload == [97, 0] + Array("열".utf8))
  #expect(try parse(#"{"payload":""}"#).payload == [])
  #expect(try parse(#"{"payload_b64":"/wBh"}"#).payload == [255, 0, 97])
  #expect(try parse("{}").payload == nil)
  #expect(fault(#"{"payload":"a","payload_b64":"/wBh"}"#) == .twoPayloads)
  #expect(fault(#"{"payload":"a","payload":"a"}"#) == .repeatedField(.payload))
  #expect(fault(#"{"payload_b64":"/wB"}"#) == .badBase64(place: 4))
  #expect(fault(#"{"payload":5}"#) == .wrongType(.payload))
  #expect(fault(#"{"payload_b64":null}"#) == .wrongType(.payloadBase64))
  let most = String(repeating: "x", count: Limits.payloadLength)
  #expect(try parse(#"{"payload":"\#(most)"}"#).payload?.count == Limits.payloadLength)
  #expect(fault(#"{"payload":"\#(most)y"}"#) == .payloadTooLong(length: Limits.payloadLength + 1))
}

@Test("a list of payloads comes in parts that fit into a frame, in its order")
func heavyParts() throws {
  let path = "/tmp/bank-payloads-\(CurrentProcess.pid)-\(RandomSeed.fromSystem())"
  let file = try FileDescriptor.open(path, [.readWrite, .create, .exclusive])
  unlink(path)
  let lengths = [Limits.payloadLength, 1, 0, 400_000, 400_000, 400_000, Limits.payloadLength, 5]
  for length in lengths {
    try file.writeAll(
      Array("{\"payload\":\"\(String(repeating: "x", count: length))\",\"key\":\"k\"}\n".utf8))
  }
  let list = try CustomerList(LineFile(file), seed: 1)
  var found: [[Int]] = []
  try list.forEachPart(refusing: { _ in .readerGone }) { (part: EnqueueList) throws(CommandError) in
    found.append(part.entries.map { $0.payload?.count ?? -1 })
    var bytes: [UInt8] = []
    let message = ClientMessage.request(ControlRequest(number: .max, command: .enqueueList(part)))
    do throws(FrameEncodingError) {
      try FrameEncoder().append(message, to: &bytes, limit: FrameLimits.control)
    } catch { throw .failed("\(error)") }
  }
  #expect(found == [[lengths[0]], [1, 0, 400_000, 400_000], [400_000], [lengths[6]], [5]])
}

@Test("a ticket shows what its customer carries, as text if it is text")
func payloadShown() {
  var ticket = TicketReport(
    day: 1, ticket: 7, service: .loan, priority: .regular, amount: 5, account: 6, issuedAt: 0, state: .dead)
  let (english, korean) = (MessageCatalog(language: .english), MessageCatalog(language: .korean))
  func shown() -> String { JSONValue.ticket(ticket).text }
  func told(_ messages: MessageCatalog) -> String {
    TicketTimelineRenderer(ticket: ticket, messages: messages, palette: Palette(isOn: false)).lines[2]
  }
  #expect(!shown().contains("payload"))
  ticket.payload = Array("a\n\"열\"".utf8)
  #expect(shown().contains(#","payload":"a\n\"열\"","attempts""#))
  #expect(told(english) == #"  payload: 7 bytes: 'a\u{a}"열"'"#)
  #expect(told(korean) == #"  페이로드 7바이트: 'a\u{a}"열"'"#)
  ticket.payload = []
  #expect(shown().contains(#","payload":"","attempts""#))
  #expect(told(english) == "  payload: 0 bytes" && told(korean) == "  페이로드 0바이트")
  ticket.payload = [255, 0, 97]
  #expect(shown().contains(#","payload_b64":"/wBh","attempts""#) && !shown().contains("\"payload\""))
  #expect(told(english) == "  payload: 3 bytes" && told(korean) == "  페이로드 3바이트")
}
