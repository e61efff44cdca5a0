// Owns noticing that whoever opened a bank in its foreground has ended, however that came.
// It must not know what is done then, nor the conversation with that process: one that reads too slowly can lose it, and
// is alive all the same.
// Failure: SystemError where the kernel has no way to watch left; the bank is not opened then.

import Posix

/// Watches the process without which there shall be no bank.
final class OpenerWatch {
  private let process: OtherProcess?

  /// Begins to watch; where the process has ended already that is told before this returns.
  ///
  /// - Parameter pid: the process that has started this one.
  init(_ pid: Int32, on loop: EventLoop, onEnd: @escaping () -> Void) throws(SystemError) {
    process = try OtherProcess(pid: pid)
    // After the process is held, its number cannot become a stranger's; before, it was the parent's.
    guard let process, CurrentProcess.parentPid == pid else {
      onEnd()
      return
    }
    var registration: Registration?
    registration = try loop.register(fd: process.fd, interest: .read) { [unowned loop] _ in
      if let registration { loop.deregister(registration) }
      onEnd()
    }
  }
}
