// `web sessions`: lists the login sessions of the web server, or ends one or all of them.
// Errors: `CommandError`; exit code 5 without a web server, 4 for an unknown session.
import BankModel
import ControlClient
import JSON
import Posix
import Time
import Wire

/// Implementation of `bankctl web sessions`.
enum WebSessions {
  /// One login session as the server describes it.
  private struct Row {
    var id, role, since, seen: String
    var mayRun: Bool
  }

  /// Lists the sessions, or ends one or all of them.
  static func run(_ session: Session) throws(CommandError) {
    // A closed bank is reported as closed, and not as a bank without a web server.
    _ = try CoordinatorClient.withOpenBank(session) { coordinator throws(CommandError) in
      try coordinator.status(.status)
    }
    let socket = Paths.join(session.home.path, "run", "web.sock")
    let deadline = SystemClock.monotonic() + .seconds(5)
    let ended = session.invocation.text("end")
    if let ended, ended != "all", !isName(ended) {
      throw .commandFailure(.noSuchSession, session.messages.noSuchSession(ended))
    }
    let answer =
      ended.map { LocalHTTPClient.post("/sessions?end=\($0)", to: socket, until: deadline) }
      ?? LocalHTTPClient.get("/sessions", from: socket, until: deadline)
    guard let answer else { throw .commandFailure(.webNotRunning, session.messages.webIsClosed) }
    if answer.status == 404, let ended {
      throw .commandFailure(.noSuchSession, session.messages.noSuchSession(ended))
    }
    guard answer.status == 200, let (rows, count, document) = read(answer.body) else {
      throw .commandFailure(.webFailed, session.messages.webFailed(""))
    }
    try session.show(document, or: lines(rows, ended == nil ? nil : count, session))
  }

  /// True for the form of a session id: eight hexadecimal digits.
  private static func isName(_ text: String) -> Bool {
    text.utf8.count == 8 && text.allSatisfy { $0.isASCII && $0.isHexDigit }
  }

  /// The sessions as a table, below the number of ended ones.
  private static func lines(_ rows: [Row], _ ended: Int?, _ session: Session) -> [String] {
    let messages = session.messages
    var lines = ended.map { [messages.sessionsEnded($0)] } ?? []
    guard !rows.isEmpty else { return lines + (ended == nil ? [messages.noSessions] : []) }
    var table = TextTable([.left, .left, .left, .left])
    table.addHeadings(messages.sessionHeadings)
    for row in rows {
      table.add([
        .init(row.id), .init(row.mayRun ? row.role + " + run" : row.role), .init(row.since), .init(row.seen),
      ])
    }
    lines += table.lines(session.output.palette, within: session.columns)
    return lines
  }

  /// The sessions in an answer, the number of ended sessions, and the JSON document; nil for an invalid answer.
  private static func read(_ body: [UInt8]) -> (rows: [Row], ended: Int, document: JSONValue)? {
    guard let node = try? JSONReader.read(body), case .object(let members) = node.content,
      case .array(let sessions)? = members.first(where: { $0.key == "sessions" })?.value.content
    else { return nil }
    var (rows, documents): ([Row], [JSONValue]) = ([], [])
    for session in sessions {
      guard case .object(let members) = session.content else { return nil }
      /// The text of a field; empty if it is missing or not text.
      func text(_ name: String) -> String {
        if case .string(let text)? = members.first(where: { $0.key == name })?.value.content {
          text
        } else {
          ""
        }
      }
      let mayRun = members.first { $0.key == "run" }?.value.content == .bool(true)
      rows.append(
        Row(id: text("id"), role: text("role"), since: text("since"), seen: text("seen"), mayRun: mayRun))
      documents.append([
        "id": .string(text("id")), "role": .string(text("role")), "run": .bool(mayRun),
        "since": .string(text("since")), "seen": .string(text("seen")), "ends": .string(text("ends")),
      ])
    }
    var ended: [JSONValue] = []
    if case .array(let names)? = members.first(where: { $0.key == "ended" })?.value.content {
      for case .string(let name) in names.map(\.content) { ended.append(.string(name)) }
    }
    return (rows, ended.count, ["version": 1, "sessions": .array(documents), "ended": .array(ended)])
  }
}
