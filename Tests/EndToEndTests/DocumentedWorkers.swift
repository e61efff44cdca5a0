// Programs as they stand on the pages about them: a test that runs something else would not notice a page that is wrong.
import Foundation
import Testing

enum DocumentedWorkers {
  /// The program in this language, of a page below Sources.
  static func program(_ language: String, of page: String = "Wire/Wire.docc/Workers.md") throws -> String {
    let root = URL(fileURLWithPath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
      .deletingLastPathComponent()
    let page = try String(
      contentsOf: root.appendingPathComponent("Sources/" + page), encoding: .utf8)
    let begin = try #require(page.range(of: "```\(language)\n"), "no program in \(language)")
    let rest = page[begin.upperBound...]
    let end = try #require(rest.range(of: "```"))
    return String(rest[..<end.lowerBound])
  }
}

/// A worker that keeps no rule of the conversation unless the test wants it to.
final class LineWorker {
  private let client: RawClient

  /// Connects to the socket for workers and says hello.
  init(_ branch: Branch, hello: String) throws {
    client = try RawClient(branch, socket: "worker.sock")
    say(hello)
  }

  /// The same, ready for customers of this service.
  convenience init(_ branch: Branch, service: String, inHand: Int = 1) throws {
    try self.init(
      branch,
      hello: #"{"hello":{"version":1,"role":"worker","services":["\#(service)"],"in_hand":\#(inHand)}}"#)
    let welcome = try hear()
    try #require(welcome["welcome"]["lease_ms"].integer != nil, "\(welcome)")
    say(#"{"ready":{}}"#)
  }

  func say(_ line: String) { client.send(Array((line + "\n").utf8)) }
  func send(_ bytes: [UInt8]) { client.send(bytes) }
  func hangUp() { client.finishSending() }

  /// The next line; a failure where there is none.
  func hear() throws -> JSON { try JSON(parsing: try #require(client.line(), "nothing was said")) }
  /// The next line; nil at the end.
  func hearIfAny() throws -> JSON? { try client.line().map { try JSON(parsing: $0) } }

  /// The next customer.
  func customer() throws -> (lease: String, ticket: Int, order: JSON) {
    let order = try hear()["assign"]
    let ticket = try #require(order["ticket"].integer)
    let (attempt, generation) = (order["attempt"].integer ?? 0, order["generation"].integer ?? 0)
    return (#""ticket":\#(ticket),"attempt":\#(attempt),"generation":\#(generation)"#, ticket, order)
  }

  /// What the bank says when it sends a worker away, behind whatever it had said before.
  func refusal() throws -> (reason: String, text: String)? {
    while let line = try hearIfAny() {
      if let reason = line["refused"]["reason"].text { return (reason, line["refused"]["text"].text ?? "") }
    }
    return nil
  }
}
