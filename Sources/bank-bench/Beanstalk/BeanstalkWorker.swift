// Owns a worker process of a beanstalkd under measurement: as a teller it has one job in hand, and says in one write
// that this one is done and that it wants the next. It must not measure.
// Invariant: it begins with its owner's word on descriptor 3 and ends when no job is left, or its owner is gone.

import Glibc
import Posix

/// Workers of one beanstalkd.
final class BeanstalkCrew {
  /// With this and a socket this program is a worker.
  static let workerWord = "--beanstalk-worker"

  private var workers: [(process: ChildProcess, channel: CInt)] = []

  init(_ count: Int, of server: BeanstalkServer, program: String) throws {
    for _ in 0..<count { try add(server, program) }
  }

  deinit {
    for worker in workers {
      close(worker.channel)
      worker.process.kill(SIGKILL)
      _ = worker.process.wait()
    }
  }

  private func add(_ server: BeanstalkServer, _ program: String) throws(SystemError) {
    let pair = try UnixSocket.pair()
    let process = try ChildProcess.spawn(
      executable: program, arguments: [Self.workerWord, server.socket], environment: [:], channel: pair.second
    )
    workers.append((process, pair.first.take()))
  }

  func work() throws {
    var byte: UInt8 = 0
    // Each has said that it is connected, so that no start is counted.
    for worker in workers {
      guard read(worker.channel, &byte, 1) == 1 else { throw BenchFailure("a worker did not start") }
    }
    for worker in workers { send(worker.channel, &byte, 1, CInt(MSG_NOSIGNAL)) }
    for worker in workers {
      guard read(worker.channel, &byte, 1) == 1 else { throw BenchFailure("a worker did not finish") }
    }
  }

  static func serve(_ socket: String) throws {
    let client = try BeanstalkClient(socket: socket)
    var byte: UInt8 = 1
    guard send(3, &byte, 1, CInt(MSG_NOSIGNAL)) == 1, read(3, &byte, 1) == 1 else { return }
    client.reserve(waits: false)
    try client.flush()
    while case .reserved(let id) = try client.next() {
      client.delete(id)
      client.reserve(waits: false)
      try client.flush()
      guard case .deleted = try client.next() else { throw BenchFailure("a job was not deleted") }
    }
    send(3, &byte, 1, CInt(MSG_NOSIGNAL))
  }
}
