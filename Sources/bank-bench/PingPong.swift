// Owns the bare conversation between one process that polls and workers that answer at once: no frames, no codec,
// no queue. It must not know the bank. Invariant: each worker has one message in flight.
// Failure: BenchFailure; workers end by themselves when their socket does.
import Glibc
import Posix

final class PingPong {
  /// Makes this program a worker.
  static let echoWord = "--echo"
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

  private func add(_ program: String) throws {
    let pair = try UnixSocket.pair()
    children.append(
      try ChildProcess.spawn(
        executable: program, arguments: [Self.echoWord], environment: [:], channel: pair.second))
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

  func tripsPerSecond(for span: Duration) throws -> Double {
    var buffer: (UInt64, UInt64, UInt64, UInt64, UInt64) = (0, 0, 0, 0, 0)
    for socket in sockets { send(socket, &buffer, Self.question, CInt(MSG_NOSIGNAL)) }
    // The first trips include the start of the workers.
    while trips < 1_000 { try loop.runOnce(until: nil) }
    trips = 0
    let begin = SystemClock.monotonic()
    var now = begin
    while now - begin < span {
      try loop.runOnce(until: nil)
      now = SystemClock.monotonic()
    }
    return Double(trips) / (now - begin).seconds
  }

  /// A worker: answers on descriptor 3 until it is closed.
  static func echo() -> CInt {
    var buffer: (UInt64, UInt64, UInt64, UInt64, UInt64) = (0, 0, 0, 0, 0)
    while read(3, &buffer, question) > 0 { send(3, &buffer, answer, CInt(MSG_NOSIGNAL)) }
    return 0
  }
}
