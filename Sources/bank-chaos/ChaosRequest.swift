// One GET request of a chaos run to the server of the web page, and the part of the answer received so far.
// Invariant: it never blocks, and the stored text has a maximum size. After the connection has ended it reads
// nothing.
import Posix

final class ChaosRequest {
  private(set) var isOpen = true
  /// The received part of the answer that was not discarded.
  private(set) var text = ""
  private let connection: FileDescriptor
  private let loop: EventLoop
  private let registration: Registration
  /// Maximum size of the stored text, in bytes.
  private static let longest = 4 << 20

  /// Sends the request; nil if the connection cannot be made.
  init?(_ target: String, to socket: String, on loop: EventLoop) {
    guard let outcome = try? UnixSocket.connect(path: socket, nonBlocking: true),
      case .connected(let connection) = consume outcome,
      let registration = try? loop.register(fd: connection.rawValue, interest: .read, handler: { _ in })
    else { return nil }
    self.connection = connection
    (self.loop, self.registration) = (loop, registration)
    let request = Array("GET \(target) HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n".utf8)
    if (try? request.withUnsafeBytes { try self.connection.send($0) }) != .bytes(request.count) { close() }
  }

  deinit { close() }

  /// Ends the connection; the descriptor is closed with the object.
  private func close() {
    guard isOpen else { return }
    isOpen = false
    loop.deregister(registration)
  }

  /// Appends all data that has arrived to the text.
  func read() {
    var chunk = [UInt8](repeating: 0, count: 16 << 10)
    while isOpen {
      switch try? chunk.withUnsafeMutableBytes({ try connection.receive(into: $0) }) {
      case .bytes(let count) where text.utf8.count + count <= Self.longest:
        text += String(decoding: chunk[..<count], as: UTF8.self)
      case .wouldBlock: return
      case .bytes, .endOfFile, nil: close()
      }
    }
  }

  func forget() { text = "" }
}
