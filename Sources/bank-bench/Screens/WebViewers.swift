// Viewers of a page: connections that request its events and read everything. A browser would run on another machine,
// so a viewer must use as little of this machine as possible. The first viewers (`watched`) read data as soon as it
// arrives. The sockets of the others are read at intervals, in turn, into memory that is not used, so that the page
// does the same work for all viewers.
// Invariant: each viewer has received its first event before readiness is reported.
// Errors: BenchFailure if the server refuses or disconnects a viewer.
import Glibc
import Posix
import Time

enum WebViewers {
  /// First argument that makes this program a process with viewers.
  static let modeArgument = "viewers"
  /// Number of viewers that read data as soon as it arrives.
  private static let watched = 8
  /// Pause between two reads of the other viewers.
  private static let round = TimeSpan.milliseconds(250)

  /// Main function of the process with viewers: `count` viewers, connected to the page's socket at this path.
  static func watch(_ path: String, count: Int) throws {
    let loop = try EventLoop()
    let channel = LoadProcessChannel()
    let room = UnsafeMutableRawBufferPointer.allocate(byteCount: 1 << 18, alignment: 16)
    defer { room.deallocate() }
    var (ready, bytes, isWanted, isLeft) = (0, Int64(0), true, false)
    var seen = Array(repeating: 0, count: count)
    let request =
      "GET /events?page=/&lang=en HTTP/1.1\r\nHost: localhost\r\nAccept: text/event-stream\r\n\r\n"
    var sockets: [CInt] = []
    /// Reads the data that has arrived for the viewer with this index. Returns false if no data is available.
    func read(_ place: Int) -> Bool {
      let count = recv(sockets[place], room.baseAddress, room.count, CInt(MSG_DONTWAIT))
      guard count > 0 else {
        isLeft = isLeft || count == 0 || errno != EAGAIN
        return false
      }
      bytes += Int64(count)
      // The head of an answer is shorter than this limit, but head and first event together are longer.
      if seen[place] < 1_024, seen[place] + count >= 1_024 { ready += 1 }
      seen[place] += count
      return true
    }
    for place in 0..<count {
      guard case .connected(let socket) = try UnixSocket.connect(path: path) else {
        throw BenchFailure("no process is listening on \(path)")
      }
      try socket.writeAll(Array(request.utf8))
      sockets.append(socket.take())
      if place < watched {
        _ = try loop.register(fd: sockets[place], interest: .read) { _ in _ = read(place) }
      }
    }
    var nextRound = SystemClock.monotonic()
    /// Reads the data of the first viewers until the others are due, and then that of the others.
    func runIteration() throws {
      try loop.runOnce(until: count > watched || ready < count ? nextRound : nil)
      guard nextRound <= SystemClock.monotonic() else { return }
      nextRound = SystemClock.monotonic() + round
      for place in min(watched, count)..<count { _ = read(place) }
    }
    let patience = SystemClock.monotonic() + .seconds(30)
    while ready < count, !isLeft, SystemClock.monotonic() < patience { try runIteration() }
    guard ready == count else { throw BenchFailure("\(ready) of \(count) viewers are connected") }
    try channel.send(Int64(count))
    bytes = 0
    try channel.onLeave(loop) { isWanted = false }
    while isWanted, !isLeft { try runIteration() }
    guard !isLeft else { throw BenchFailure("a viewer was disconnected") }
    try channel.send(bytes)
  }
}
