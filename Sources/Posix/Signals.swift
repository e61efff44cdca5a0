// Owns the names of signals and how this process is disposed towards them.
// Failure: SystemError for what is no signal, or cannot be changed (SIGKILL, SIGSTOP).
import CLinux
import Glibc

/// Signals of this process. `signal(7)`
public enum Signals {
  /// `SIGKILL` for 9, `SIGRTMIN+3` for a realtime signal, `signal 99` for what is none.
  public static func name(_ signal: CInt) -> String {
    if let abbreviation = linux_signal_abbreviation(signal) { return "SIG" + String(cString: abbreviation) }
    let first = linux_realtime_signal_minimum()
    guard signal >= first && signal <= linux_realtime_signal_maximum() else { return "signal \(signal)" }
    return signal == first ? "SIGRTMIN" : "SIGRTMIN+\(signal - first)"
  }

  /// From now on a write that nobody reads is an error (EPIPE) and does not end the process.
  public static func ignorePipe() {
    let result = linux_signals_ignore(SIGPIPE)
    precondition(result == 0, "SIGPIPE exists and can be ignored")
  }

  /// From now on a write beyond the limit of a file's size is an error (EFBIG) and does not end the process.
  static func ignoreFileSizeLimit() {
    let result = linux_signals_ignore(SIGXFSZ)
    precondition(result == 0, "SIGXFSZ exists and can be ignored")
  }

  /// From now on SIGABRT and SIGQUIT end the process at once, with a core where cores are kept.
  ///
  /// The language's runtime answers them with a backtrace where its tools are installed. These two come from outside,
  /// and SIGKILL follows soon after; a backtracer whose process is killed waits for ever, and holds what it inherited.
  static func endAtOnceWhenAborted() {
    for signal in [SIGABRT, SIGQUIT] {
      let result = linux_signals_default(signal)
      precondition(result == 0, "SIGABRT and SIGQUIT exist and have a default")
    }
  }

  /// Puts every signal back to its default and blocks none, for a process that does not know who started it.
  ///
  /// Children of ``ChildProcess`` begin like this already.
  public static func resetForChild() {
    let result = linux_signals_reset()
    precondition(result == 0, "an empty mask is a valid mask")
  }

  /// Lets signals through again that a ``SignalSource`` had blocked in this thread.
  public static func unblock(_ signals: [CInt]) throws(SystemError) {
    try systemCall("pthread_sigmask", on: "") { linux_signals_unblock(signals, CInt(signals.count)) }
  }

  /// Stops this process as Ctrl-Z does, and returns when somebody continues it.
  ///
  /// Returns at once where nobody could continue it, as in a group without a shell. SIGTSTP is blocked before and
  /// afterwards.
  /// - Parameter group: Whether everybody in its process group is stopped, too: those who were started together.
  public static func stop(group: Bool) throws(SystemError) {
    try unblock([SIGTSTP])
    // A signal to oneself that is not blocked has arrived before the call returns. kill(2)
    _ = group ? kill(0, SIGTSTP) : raise(SIGTSTP)
    var blocked = sigset_t()
    sigemptyset(&blocked)
    sigaddset(&blocked, SIGTSTP)
    let result = pthread_sigmask(SIG_BLOCK, &blocked, nil)
    precondition(result == 0, "SIGTSTP exists and can be blocked")
  }

  /// Ends this process by a signal as if nobody had looked at it, so that whoever waits for the process learns of it.
  ///
  /// Returns only for a signal that ends nothing. `raise(3)`
  public static func end(by signal: CInt) {
    resetForChild()
    _ = raise(signal)
    // The kernel spares process 1 of a container every signal that it has no handler for.
    if getpid() == 1, [SIGTERM, SIGINT, SIGHUP, SIGQUIT].contains(signal) { _exit(128 + signal) }
  }
}
