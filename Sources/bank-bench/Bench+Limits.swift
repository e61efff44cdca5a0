// Raw limits of the machine: a durable write, and a round trip over a socket. Apart from the event loop and the system
// calls, no code of the bank is measured here, because the bank is compared with these figures.
import Glibc
import Posix
import Time

extension Bench {
  /// Measures the limits of the machine without the bank: durable writes, and round trips over sockets, per second.
  func measureLimits() throws {
    let syncs = try rounds { try syncsPerSecond(for: scale.span) }
    add("limits", "write + fdatasync of 4 KiB", "/s", syncs)
    let trips = try rounds { try tripsPerSecond(of: 3, for: scale.span) }
    add(
      "limits", "Unix-socket ping-pong, 3 workers", "/s", trips, note: "one poller; 40 bytes there, 20 back")
  }

  /// Round trips per second between this process and a number of workers.
  func tripsPerSecond(of workers: Int, for span: TimeSpan) throws -> Double {
    try PingPong(program: Paths.join(programs, "bank-bench"), workers: workers).tripsPerSecond(for: span)
  }

  /// Writes per second, each with a sync. The same blocks are overwritten, as in a write-ahead log that has reached its
  /// size.
  func syncsPerSecond(for span: TimeSpan) throws -> Double {
    let path = Paths.join(scratch, "sync")
    defer { Directory.removeTree(path) }
    let blocks: Int64 = 1_024
    let file = try FileDescriptor.open(path, [.readWrite, .create])
    let block = UnsafeMutableRawBufferPointer.allocate(byteCount: 4_096, alignment: 4_096)
    defer { block.deallocate() }
    block.initializeMemory(as: UInt8.self, repeating: 7)
    for number in 0..<blocks { try file.write(UnsafeRawBufferPointer(block), at: number * 4_096) }
    try file.sync()
    let begin = SystemClock.monotonic()
    var count: Int64 = 0
    while SystemClock.monotonic().since(begin) < span {
      try file.write(UnsafeRawBufferPointer(block), at: count % blocks * 4_096)
      guard fdatasync(file.rawValue) == 0 else {
        throw SystemError(call: "fdatasync", subject: path, code: errno)
      }
      count += 1
    }
    return Double(count) / SystemClock.monotonic().since(begin).inSeconds
  }
}

/// Exchange of messages between one polling process and workers that answer at once, without frames, codec and queue.
/// Invariant: each worker has one message in flight.
/// Errors: SystemError; a worker exits when its socket is closed.
final class PingPong {
  /// Argument that makes this program a worker.
  static let echoArgument = "--echo"
  /// Sizes of the messages to a worker and back, in bytes.
  private static let question = 40
  private static let answer = 20
  private let loop: EventLoop
  private var sockets: [CInt] = []
  private var children: [ChildProcess] = []
  private var trips = 0

  init(program: String, workers: Int) throws {
    loop = try EventLoop()
    for _ in 0..<workers { try add(program) }
  }

  deinit {
    for socket in sockets { close(socket) }
    for child in children { _ = child.wait() }
  }

  /// Starts a worker, and sends it the next message after each answer.
  private func add(_ program: String) throws {
    let pair = try UnixSocket.pair()
    children.append(
      try ChildProcess.spawn(
        executable: program, arguments: [Self.echoArgument], environment: [:], channel: pair.second))
    try pair.first.setNonBlocking(true)
    let socket = pair.first.take()
    sockets.append(socket)
    _ = try loop.register(fd: socket, interest: .read) { [unowned self] _ in
      var buffer: (UInt64, UInt64, UInt64, UInt64, UInt64) = (0, 0, 0, 0, 0)
      guard read(socket, &buffer, Self.answer) == Self.answer else { return }
      trips += 1
      send(socket, &buffer, Self.question, CInt(MSG_NOSIGNAL))
    }
  }

  /// Round trips per second with all workers.
  func tripsPerSecond(for span: TimeSpan) throws -> Double {
    var buffer: (UInt64, UInt64, UInt64, UInt64, UInt64) = (0, 0, 0, 0, 0)
    for socket in sockets { send(socket, &buffer, Self.question, CInt(MSG_NOSIGNAL)) }
    // The first trips include the start of the workers.
    while trips < 1_000 { try loop.runOnce(until: nil) }
    trips = 0
    let begin = SystemClock.monotonic()
    var now = begin
    while now.since(begin) < span {
      try loop.runOnce(until: nil)
      now = SystemClock.monotonic()
    }
    return Double(trips) / now.since(begin).inSeconds
  }

  /// Runs a worker, which answers messages on descriptor 3 until the other end is closed.
  static func echo() -> CInt {
    var buffer: (UInt64, UInt64, UInt64, UInt64, UInt64) = (0, 0, 0, 0, 0)
    while read(3, &buffer, question) > 0 { send(3, &buffer, answer, CInt(MSG_NOSIGNAL)) }
    return 0
  }
}
