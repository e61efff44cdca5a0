// Shared fixtures: connected sockets, a bounded wait on a loop, a single read as text. Invariant: nothing
// here waits longer than two minutes, and all descriptors are closed with their owner. Failure: an error that
// the test throws.
import Glibc
import Posix
import PosixFixture
import Time

/// Two connected, non-blocking sockets that closures can share.
final class SocketPair {
  let near: FileDescriptor
  private var other: FileDescriptor?

  init() {
    do throws(SystemError) {
      let pair = try UnixSocket.pair(nonBlocking: true)
      near = pair.first
      other = consume pair.second
    } catch {
      preconditionFailure(error.description)
    }
  }

  var far: FileDescriptor {
    _read {
      switch other {
      case .some(let far): yield far
      case .none: preconditionFailure("the far end is closed")
      }
    }
  }

  func closeFar() { other = nil }
}

/// Runs the loop until `condition` holds; false when that took longer than two minutes.
func run(_ loop: EventLoop, until condition: () -> Bool) throws -> Bool {
  let deadline = SystemClock.monotonic() + .seconds(120)
  while !condition() {
    if SystemClock.monotonic() >= deadline { return false }
    try loop.runOnce(until: deadline)
  }
  return true
}

/// Reads once, and returns the bytes as text; nil for any other outcome.
func readText(_ descriptor: borrowing FileDescriptor) throws -> String? {
  var buffer = [UInt8](repeating: 0, count: 4096)
  let result = try read(descriptor, into: &buffer)
  guard case .bytes(let count) = result else { return nil }
  return String(decoding: buffer[..<count], as: UTF8.self)
}

func readOnce(_ descriptor: borrowing FileDescriptor) throws -> ReadResult {
  var buffer = [UInt8](repeating: 0, count: 4096)
  return try read(descriptor, into: &buffer)
}

private func read(
  _ descriptor: borrowing FileDescriptor, into buffer: inout [UInt8]
) throws -> ReadResult {
  let memory = UnsafeMutableRawBufferPointer.allocate(byteCount: buffer.count, alignment: 1)
  defer { memory.deallocate() }
  let result = try descriptor.read(into: memory)
  if case .bytes(let count) = result { buffer.replaceSubrange(0..<count, with: memory[..<count]) }
  return result
}

func connected(to path: String) throws -> FileDescriptor {
  switch try UnixSocket.connect(path: path) {
  case .connected(let socket): return socket
  case .noSuchFile: throw SystemError(call: "connect", subject: path, code: ENOENT)
  case .refused: throw SystemError(call: "connect", subject: path, code: ECONNREFUSED)
  case .permissionDenied: throw SystemError(call: "connect", subject: path, code: EACCES)
  case .busy: throw SystemError(call: "connect", subject: path, code: EAGAIN)
  }
}

/// The name of an outcome, for comparison of values that cannot be copied.
func name(_ outcome: consuming UnixSocket.ConnectOutcome) -> String {
  switch outcome {
  case .connected: "connected"
  case .noSuchFile: "not there"
  case .refused: "refused"
  case .permissionDenied: "permission denied"
  case .busy: "busy"
  }
}

extension TemporaryDirectory {
  /// A directory whose path is far longer than a socket address allows.
  func longDirectory() throws -> String {
    let deep = Paths.join(path, String(repeating: "d", count: 60), String(repeating: "e", count: 60))
    try Directory.create(path: deep)
    return deep
  }
}
