// Names of signals, and the signal dispositions of this process.
// Errors: SystemError if the signal mask cannot be changed. A disposition that cannot be set traps.
import CLinux
import Glibc

/// Signals of this process. `signal(7)`
public enum Signals {
  /// Name of a signal: `SIGKILL` for 9, `SIGRTMIN+3` for a realtime signal, `signal 99` for an invalid number.
  public static func name(_ signal: CInt) -> String {
    if let abbreviation = linux_signal_abbreviation(signal) { return "SIG" + String(cString: abbreviation) }
    let first = linux_realtime_signal_minimum()
    guard signal >= first && signal <= linux_realtime_signal_maximum() else { return "signal \(signal)" }
    return signal == first ? "SIGRTMIN" : "SIGRTMIN+\(signal - first)"
  }

  /// Makes a write without a reader an error (EPIPE), so that SIGPIPE does not kill the process.
  public static func ignorePipe() {
    let result = linux_signals_ignore(SIGPIPE)
    precondition(result == 0, "SIGPIPE exists and can be ignored")
  }

  /// Makes a write beyond the file size limit an error (EFBIG), so that SIGXFSZ does not kill the process.
  static func ignoreFileSizeLimit() {
    let result = linux_signals_ignore(SIGXFSZ)
    precondition(result == 0, "SIGXFSZ exists and can be ignored")
  }

  /// Makes SIGABRT and SIGQUIT end the process at once, with a core dump if core dumps are enabled.
  ///
  /// If the tools for it are installed, the Swift runtime handles these signals by printing a backtrace. A backtracer
  /// whose process is killed meanwhile may wait forever and keep inherited descriptors open.
  static func restoreDefaultAbort() {
    for signal in [SIGABRT, SIGQUIT] {
      let result = linux_signals_default(signal)
      precondition(result == 0, "SIGABRT and SIGQUIT exist and have a default")
    }
  }

  /// Sets the signals to their default action and blocks none, for a process whose starter may have changed them.
  public static func resetForChild() {
    let result = linux_signals_reset()
    precondition(result == 0, "an empty mask is a valid mask")
  }

  /// Unblocks signals that a ``SignalSource`` had blocked in this thread.
  public static func unblock(_ signals: [CInt]) throws(SystemError) {
    try systemCall("pthread_sigmask", on: "") { linux_signals_unblock(signals, CInt(signals.count)) }
  }

  /// Suspends this process as Ctrl-Z does, with `group` its whole process group, and returns when it is continued.
  ///
  /// Returns at once if no process could continue this one, for example in a process group without a shell.
  /// SIGTSTP is blocked before and after the call.
  /// - Parameter group: true to stop the whole process group, which contains the processes that were started
  ///   together with this one.
  public static func stop(group: Bool) throws(SystemError) {
    try unblock([SIGTSTP])
    // The kernel delivers an unblocked signal to the calling process before the call returns. `kill(2)`
    _ = group ? kill(0, SIGTSTP) : raise(SIGTSTP)
    var blocked = sigset_t()
    sigemptyset(&blocked)
    sigaddset(&blocked, SIGTSTP)
    let result = pthread_sigmask(SIG_BLOCK, &blocked, nil)
    precondition(result == 0, "SIGTSTP exists and can be blocked")
  }

  /// Ends this process by a signal with its default action, so that the exit status contains the signal.
  ///
  /// Returns only for a signal that does not end the process. `raise(3)`
  public static func end(by signal: CInt) {
    resetForChild()
    _ = raise(signal)
    // In a container, the kernel does not deliver signals without a handler to process 1.
    if getpid() == 1, [SIGTERM, SIGINT, SIGHUP, SIGQUIT].contains(signal) { _exit(128 + signal) }
  }
}
