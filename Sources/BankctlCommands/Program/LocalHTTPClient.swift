// One HTTP request to the web server over the socket in the home, and its answer.
// Invariant: a call does not wait beyond its deadline.
// Errors: nil if no valid answer arrives in time.
import Glibc
import Posix
import Time

/// Client for single HTTP requests over a Unix socket.
enum LocalHTTPClient {
  /// Maximum answer size in bytes.
  private static let longest = 64 << 10

  /// Sends an empty POST. Returns status and body; nil without a valid answer in time.
  static func post(
    _ target: String, to socket: String, until deadline: MonotonicTime
  ) -> (status: Int, body: [UInt8])? { ask("POST", target, socket, deadline) }

  /// Sends a GET. Returns status and body; nil without a valid answer in time.
  static func get(
    _ target: String, from socket: String, until deadline: MonotonicTime
  ) -> (status: Int, body: [UInt8])? { ask("GET", target, socket, deadline) }

  private static func ask(
    _ method: String, _ target: String, _ socket: String, _ deadline: MonotonicTime
  ) -> (status: Int, body: [UInt8])? {
    guard case .connected(let connection)? = try? UnixSocket.connect(path: socket, nonBlocking: true) else {
      return nil
    }
    let request = Array(
      "\(method) \(target) HTTP/1.1\r\nHost: localhost\r\nContent-Length: 0\r\nConnection: close\r\n\r\n".utf8
    )
    guard (try? request.withUnsafeBytes { try connection.send($0) }) == .bytes(request.count) else {
      return nil
    }
    var answer: [UInt8] = []
    var chunk = [UInt8](repeating: 0, count: 4_096)
    while answer.count <= longest {
      switch try? chunk.withUnsafeMutableBytes({ try connection.receive(into: $0) }) {
      case .bytes(let count): answer += chunk[..<count]
      case .endOfFile: return read(answer)
      case .wouldBlock:
        guard isReadable(connection.rawValue, until: deadline) else { return nil }
      case nil: return nil
      }
    }
    return nil
  }

  /// Waits for input of the connection. Returns false at the deadline.
  private static func isReadable(_ descriptor: CInt, until deadline: MonotonicTime) -> Bool {
    let left = deadline.since(SystemClock.monotonic()).milliseconds
    var item = pollfd(fd: descriptor, events: Int16(POLLIN), revents: 0)
    return left > 0 && poll(&item, 1, CInt(clamping: left)) > 0
  }

  /// Parses a complete answer into status and body; nil if it is not HTTP/1.
  private static func read(_ answer: [UInt8]) -> (status: Int, body: [UInt8])? {
    let text = String(decoding: answer, as: UTF8.self)
    guard text.hasPrefix("HTTP/1."), let end = text.firstRange(of: "\r\n\r\n"),
      let status = text.split(separator: " ", maxSplits: 2).dropFirst().first.flatMap({ Int($0) })
    else { return nil }
    return (status, Array(text[end.upperBound...].utf8))
  }
}
