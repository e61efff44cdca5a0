// Client of the page: curl over the socket in the home, or over TCP with the cookie of a link. It returns what curl
// prints, with the status and the headers.
import Foundation
import Testing

/// Page of a branch, as `bankctl web` reports it.
struct WebClient {
  let branch: ScratchBank
  /// `http://127.0.0.1:40123`; `link` is the complete link.
  let url: String
  let link: String
  let socket: String
  let managerCode: String

  struct Answer {
    let status: Int
    let headers: [String]
    let body: String

    func header(_ name: String) -> String? {
      headers.first { $0.lowercased().hasPrefix(name.lowercased() + ":") }.map {
        String($0.drop { $0 != ":" }.dropFirst().drop { $0 == " " })
      }
    }

    /// Body as a document; `.missing` if it is not JSON.
    var json: JSON { (try? JSON(parsing: body)) ?? .missing }
  }

  /// Runs curl with these arguments.
  func curl(_ arguments: [String], at location: SourceLocation = #_sourceLocation) throws -> Answer {
    let outcome = try branch.launch(
      ["-s", "-i", "--max-time", "20"] + arguments, program: "/usr/bin/curl"
    ).finish(at: location)
    try #require(outcome.code == 0, outcome.story, sourceLocation: location)
    let parts = outcome.out.components(separatedBy: "\r\n\r\n")
    // An interim response (100) is not the answer.
    let begin = parts.firstIndex { !$0.hasPrefix("HTTP/1.1 100") } ?? 0
    let lines = parts[begin].components(separatedBy: "\r\n")
    let status = lines.first?.split(separator: " ").dropFirst().first.flatMap { Int($0) }
    return Answer(
      status: try #require(status, "\(outcome.out)", sourceLocation: location),
      headers: Array(lines.dropFirst()), body: parts[(begin + 1)...].joined(separator: "\r\n\r\n"))
  }

  /// Requests over the socket in the home.
  func local(
    _ path: String, _ arguments: String..., at location: SourceLocation = #_sourceLocation
  ) throws -> Answer {
    try curl(["--unix-socket", socket] + arguments + ["http://localhost" + path], at: location)
  }

  /// Requests over TCP, with further arguments of the test.
  func remote(
    _ path: String, _ arguments: String..., at location: SourceLocation = #_sourceLocation
  ) throws -> Answer {
    try curl(arguments + [url + path], at: location)
  }

  /// True if a server answers at the page's address, with any status. For waiting: a refused connection is not a
  /// failure of the test.
  func isAnswering(at location: SourceLocation = #_sourceLocation) throws -> Bool {
    try branch.launch(
      ["-s", "-o", "/dev/null", "--max-time", "20", url + "/api/v1/status"], program: "/usr/bin/curl"
    ).finish(at: location).code == 0
  }

  /// Follows the link and returns the session cookie.
  func logIn(at location: SourceLocation = #_sourceLocation) throws -> String {
    let answer = try curl([link], at: location)
    try #require(answer.status == 303, "\(answer)", sourceLocation: location)
    let cookie = try #require(answer.header("set-cookie"), "\(answer)", sourceLocation: location)
    return String(cookie.prefix { $0 != ";" })
  }
}

extension ScratchBank {
  /// Starts the page, or requests another link to it.
  func web(_ arguments: String..., at location: SourceLocation = #_sourceLocation) throws -> WebClient {
    let outcome = try launch(["web", "--json", "--no-open", "--port", "0"] + arguments).finish(at: location)
    try #require(outcome.code == 0, outcome.story, sourceLocation: location)
    let document = try outcome.json()
    let link = try #require(document["url"].text, sourceLocation: location)
    return WebClient(
      branch: self, url: String(link.prefix(upTo: link.range(of: "/login")?.lowerBound ?? link.endIndex)),
      link: link, socket: try #require(document["socket"].text, sourceLocation: location),
      managerCode: document["manager_code"].text ?? "")
  }
}
