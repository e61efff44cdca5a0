// Blocking wait of a client for a descriptor or a deadline.
// Invariant: after a signal, a wait continues for the remaining time.
import Glibc
import Posix
import Time

extension ControlConnection {
  /// Waits until the socket is readable or, with `orWritable`, readable or writable. Returns false at the
  /// deadline.
  func waitUntilReady(orWritable: Bool = false, until deadline: MonotonicTime?) throws(ControlError) -> Bool {
    do throws(SystemError) {
      return try DescriptorPoll.waitUntilReady(socket.rawValue, orWritable: orWritable, until: deadline)
    } catch { throw .system(error) }
  }
}

/// Blocking wait for one descriptor.
enum DescriptorPoll {
  /// Waits with poll(2) until a descriptor is readable or, with `orWritable`, readable or writable. An error or
  /// a hang-up counts as readable. Returns false at the deadline.
  static func waitUntilReady(
    _ fd: CInt, orWritable: Bool = false, until deadline: MonotonicTime?
  ) throws(SystemError) -> Bool {
    var item = pollfd(fd: fd, events: Int16(orWritable ? POLLIN | POLLOUT : POLLIN), revents: 0)
    while true {
      let ready = poll(&item, 1, milliseconds(until: deadline))
      if ready > 0 { return true }
      if ready < 0 {
        let code = errno
        guard code == EINTR else { throw SystemError(call: "poll", subject: "descriptor \(fd)", code: code) }
      } else if let deadline, SystemClock.monotonic() >= deadline {
        return false
      }
    }
  }

  /// Remaining time in milliseconds, limited, or -1 without a deadline. It is rounded up, so that a wait does not end
  /// just before its deadline and spin.
  private static func milliseconds(until deadline: MonotonicTime?) -> CInt {
    guard let deadline else { return -1 }
    let (left, overflow) = deadline.nanoseconds.subtractingReportingOverflow(
      SystemClock.monotonic().nanoseconds)
    let limit: Int64 = 3_600_000
    if overflow { return CInt(limit) }
    guard left > 0 else { return 0 }
    return CInt(min(limit, left / 1_000_000 + (left % 1_000_000 == 0 ? 0 : 1)))
  }
}
