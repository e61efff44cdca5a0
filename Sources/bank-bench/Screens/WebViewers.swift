// Owns viewers of a page: connections that ask for its events and read all that comes. It must not know what a page shows.
// Invariant: every one of them has had its first event when they are ready. Failure: BenchFailure where one is refused, or is left by
// the server.
import Glibc
import Posix
import Time

enum WebViewers {
  static let word = "viewers"

  /// The process of a companion: so many viewers, by the socket of the server in the home of the bank.
  static func watch(_ path: String, count: Int) throws {
    let loop = try EventLoop()
    let channel = CompanionChannel()
    let room = UnsafeMutableRawBufferPointer.allocate(byteCount: 1 << 16, alignment: 16)
    defer { room.deallocate() }
    var (ready, bytes, isWanted, isLeft) = (0, Int64(0), true, false)
    let request =
      "GET /events?page=/&lang=en HTTP/1.1\r\nHost: localhost\r\nAccept: text/event-stream\r\n\r\n"
    for _ in 0..<count {
      guard case .connected(let socket) = try UnixSocket.connect(path: path) else {
        throw BenchFailure("nobody listens at \(path)")
      }
      try socket.writeAll(Array(request.utf8))
      let number = socket.take()
      var seen = 0
      _ = try loop.register(fd: number, interest: .read) { _ in
        let count = recv(number, room.baseAddress, room.count, CInt(MSG_DONTWAIT))
        guard count > 0 else {
          isLeft = isLeft || count == 0 || errno != EAGAIN
          return
        }
        bytes += Int64(count)
        // The head of an answer is shorter than this, and not with its first event.
        if seen < 1_024, seen + count >= 1_024 { ready += 1 }
        seen += count
      }
    }
    let patience = SystemClock.monotonic() + .seconds(30)
    while ready < count, !isLeft, SystemClock.monotonic() < patience { try loop.runOnce(until: patience) }
    guard ready == count else { throw BenchFailure("\(ready) of \(count) viewers are there") }
    try channel.say(Int64(count))
    bytes = 0
    try channel.onLeave(loop) { isWanted = false }
    while isWanted, !isLeft { try loop.runOnce(until: nil) }
    guard !isLeft else { throw BenchFailure("a viewer was left") }
    try channel.say(bytes)
  }
}
