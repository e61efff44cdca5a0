// One connection to a beanstalkd, with the commands that the measurements need: put, reserve, delete. Source: the
// description of the protocol in doc/protocol.txt of beanstalkd 1.12.
// Invariant: every answer belongs to the oldest request without an answer.
// Errors: BenchFailure, with the server's answer.
import Glibc
import Posix

final class BeanstalkClient {
  /// Answer of the server to one command: to put, reserve or delete.
  enum Answer {
    case inserted
    case reserved(id: Int64)
    case deleted, timedOut
  }

  private let socket: FileDescriptor
  private var output: [UInt8] = []
  private var input: [UInt8] = []
  private var place = 0
  private let buffer = UnsafeMutableRawBufferPointer.allocate(byteCount: 64 << 10, alignment: 16)

  init(socket path: String) throws {
    let outcome = try UnixSocket.connect(path: path)
    guard case .connected(let socket) = consume outcome else {
      throw BenchFailure("no process is listening on \(path)")
    }
    self.socket = socket
  }

  deinit { buffer.deallocate() }
  var fd: CInt { socket.rawValue }

  /// Adds a command that puts a job.
  func put(_ payload: [UInt8]) {
    send("put 1024 0 3600 \(payload.count)")
    output += payload
    output += [13, 10]
  }

  /// Adds a request for a job. The server answers at once, or, if `waits` is true, when there is a job.
  func reserve(waits: Bool) { send(waits ? "reserve" : "reserve-with-timeout 0") }
  /// Adds a command that deletes a job, which completes it.
  func delete(_ id: Int64) { send("delete \(id)") }

  /// Sends all collected commands.
  func flush() throws {
    let bytes = output
    output.removeAll(keepingCapacity: true)
    try socket.writeAll(bytes)
  }

  private func send(_ words: String) {
    output += words.utf8
    output += [13, 10]
  }

  /// Waits for the next answer.
  func next() throws -> Answer {
    let words = try line().split(separator: " ")
    switch (words.first.map(String.init), words.count) {
    case ("INSERTED", 2): return .inserted
    case ("DELETED", 1): return .deleted
    case ("TIMED_OUT", 1): return .timedOut
    case ("RESERVED", 3):
      guard let id = Int64(words[1]), let length = Int(words[2]) else { break }
      try skip(length + 2)
      return .reserved(id: id)
    default: break
    }
    throw BenchFailure("beanstalkd responded: \(words.joined(separator: " "))")
  }

  /// Waits for a whole line.
  private func line() throws -> String {
    while true {
      if let end = input[place...].firstIndex(of: 10) {
        defer { place = end + 1 }
        return String(decoding: input[place..<max(place, end - 1)], as: UTF8.self)
      }
      try read()
    }
  }

  /// Waits for a number of bytes, and discards them.
  private func skip(_ count: Int) throws {
    while input.count - place < count { try read() }
    place += count
  }

  /// Waits for more bytes.
  private func read() throws {
    if place > 0 {
      input.removeSubrange(..<place)
      place = 0
    }
    let result = try socket.read(into: buffer)
    guard case .bytes(let count) = result else { throw BenchFailure("beanstalkd closed the connection") }
    input += buffer[..<count]
  }
}
