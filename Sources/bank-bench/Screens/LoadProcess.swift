// A companion: another process of this program that runs during a measurement. It contains the viewers of a page, or
// the reader of a terminal.
// Invariant: the companion has reported that it is ready before the measurement starts. It exits on request, or when
// its owner is deallocated or exits.
// Errors: BenchFailure if the companion did not become ready or exited without a request.
import Glibc
import Posix
import Time

final class LoadProcess {
  private let what: String
  private let process: ChildProcess
  private let channel: FileDescriptor

  /// Starts a companion, and returns when it is ready.
  /// - Parameter arguments: the arguments after the program's name; the first selects the companion.
  init(program: String, _ arguments: [String]) throws {
    what = arguments.joined(separator: " ")
    let pair = try UnixSocket.pair()
    process = try ChildProcess.spawn(
      executable: program, arguments: arguments, environment: Environment.all(), channel: pair.second)
    channel = pair.first
    guard try Self.number(from: channel) != nil else { throw BenchFailure("not ready: \(what)") }
  }

  deinit { process.end() }

  /// Ends the process. Returns the number of bytes that it has read since it was ready.
  @discardableResult
  func stop() throws -> Int64 {
    try UnixSocket.shutdownWriting(channel)
    let bytes = try Self.number(from: channel)
    guard process.wait().isSuccess, let bytes else { throw BenchFailure("ended early: \(what)") }
    return bytes
  }

  /// Waits for the next number from the process: ready, or the bytes read; nil if it has exited.
  private static func number(from channel: borrowing FileDescriptor) throws -> Int64? {
    var number: Int64 = 0
    let result = try withUnsafeMutableBytes(of: &number) { bytes throws(SystemError) in
      try channel.receive(into: bytes)
    }
    return result == .bytes(8) ? number : nil
  }
}

/// The load process's end of the channel to the benchmark that started it.
struct LoadProcessChannel: ~Copyable {
  private let channel = FileDescriptor(owning: 3)

  /// Sends a number to the benchmark: first that this process is ready, and at the end how many bytes it has read.
  func send(_ number: Int64) throws {
    try withUnsafeBytes(of: number) { bytes throws(SystemError) in try channel.writeAll(bytes) }
  }

  /// Calls `perform` when the benchmark ends this process, or has exited.
  func onLeave(_ loop: EventLoop, _ perform: @escaping () -> Void) throws {
    _ = try loop.register(fd: 3, interest: .read) { _ in perform() }
  }
}
