// Programs as printed on the documentation pages: running anything else would not detect an error on a page.
import Foundation
import Testing

enum DocumentedWorkers {
  /// Program in this language on a page below Sources.
  static func program(_ language: String, of page: String = "Wire/Wire.docc/Workers.md") throws -> String {
    let root = URL(fileURLWithPath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
      .deletingLastPathComponent()
    let page = try String(
      contentsOf: root.appendingPathComponent("Sources/" + page), encoding: .utf8)
    let begin = try #require(page.range(of: "```\(language)\n"), "there is no program in \(language)")
    let rest = page[begin.upperBound...]
    let end = try #require(rest.range(of: "```"))
    return String(rest[..<end.lowerBound])
  }
}

/// Worker that violates the protocol unless the test makes it comply.
final class LineWorker {
  private let client: RawClient

  /// Connects to the socket for workers and sends the hello.
  init(_ branch: ScratchBank, hello: String) throws {
    client = try RawClient(branch, socket: "worker.sock")
    say(hello)
  }

  /// Also waits for the welcome and reports ready for customers of this service.
  convenience init(_ branch: ScratchBank, service: String, inFlight: Int = 1) throws {
    try self.init(
      branch,
      hello: #"{"hello":{"version":1,"role":"worker","services":["\#(service)"],"in_hand":\#(inFlight)}}"#)
    let welcome = try receive()
    try #require(welcome["welcome"]["lease_ms"].integer != nil, "\(welcome)")
    say(#"{"ready":{}}"#)
  }

  func say(_ line: String) { client.send(Array((line + "\n").utf8)) }
  func send(_ bytes: [UInt8]) { client.send(bytes) }
  func hangUp() { client.finishSending() }

  /// Next line; fails if there is none.
  func receive() throws -> JSON { try JSON(parsing: try #require(client.line(), "the bank sent nothing")) }
  /// Next line; nil at the end.
  func receiveIfAny() throws -> JSON? { try client.line().map { try JSON(parsing: $0) } }

  /// Next customer.
  func customer() throws -> (lease: String, ticket: Int, order: JSON) {
    let order = try receive()["assign"]
    let ticket = try #require(order["ticket"].integer)
    let (attempt, generation) = (order["attempt"].integer ?? 0, order["generation"].integer ?? 0)
    return (#""ticket":\#(ticket),"attempt":\#(attempt),"generation":\#(generation)"#, ticket, order)
  }

  /// Reason and text of the refusal with which the bank disconnects the worker; earlier lines are skipped.
  func refusal() throws -> (reason: String, text: String)? {
    while let line = try receiveIfAny() {
      if let reason = line["refused"]["reason"].text { return (reason, line["refused"]["text"].text ?? "") }
    }
    return nil
  }
}
