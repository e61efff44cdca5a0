// Owns another process of this program that does something beside a measurement, so that nobody waits for it: viewers of a page, or
// whoever looks at a terminal. Invariant: it said that it was ready before the measurement began, goes when it is told so, and is
// gone with its owner. Failure: BenchFailure where it never became ready or ended by itself.
import Glibc
import Posix
import Time

final class Companion {
  private let what: String
  private let process: ChildProcess
  private let channel: FileDescriptor

  /// Returns when it is ready.
  /// - Parameter words: the command line behind the program's name; the first says which companion it is.
  init(program: String, _ words: [String]) throws {
    what = words.joined(separator: " ")
    let pair = try UnixSocket.pair()
    process = try ChildProcess.spawn(
      executable: program, arguments: words, environment: Environment.all(), channel: pair.second)
    channel = pair.first
    guard try Self.number(from: channel) != nil else { throw BenchFailure("not ready: \(what)") }
  }

  deinit { process.end() }

  /// Sends it home; the bytes that it has read since it was ready.
  @discardableResult
  func leave() throws -> Int64 {
    try UnixSocket.shutdownWriting(channel)
    let bytes = try Self.number(from: channel)
    guard process.wait().isSuccess, let bytes else { throw BenchFailure("ended by itself: \(what)") }
    return bytes
  }

  private static func number(from channel: borrowing FileDescriptor) throws -> Int64? {
    var number: Int64 = 0
    let result = try withUnsafeMutableBytes(of: &number) { bytes throws(SystemError) in
      try channel.receive(into: bytes)
    }
    return result == .bytes(8) ? number : nil
  }
}

/// The other side of the channel, in the process of a companion.
struct CompanionChannel: ~Copyable {
  private let channel = FileDescriptor(owning: 3)

  func say(_ number: Int64) throws {
    try withUnsafeBytes(of: number) { bytes throws(SystemError) in try channel.writeAll(bytes) }
  }

  /// Has it called when the owner wants the companion to go, or is gone itself.
  func onLeave(_ loop: EventLoop, _ perform: @escaping () -> Void) throws {
    _ = try loop.register(fd: 3, interest: .read) { _ in perform() }
  }
}
