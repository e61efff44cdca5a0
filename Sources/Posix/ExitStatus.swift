// Owns how a process ended, as a value.
// It must not know why, nor what is done about it.
// Invariant: a process ended either by itself with a code or by a signal, never both.
// Failure: none.
import CLinux

/// How a child ended and how large it had become. `wait4(2)`
public struct ExitStatus: Sendable, Hashable, CustomStringConvertible {
  /// By itself or not.
  public enum Ending: Sendable, Hashable {
    /// It called exit (or returned from main) with this code, 0 to 255.
    case code(Int32)
    /// It was ended by this signal.
    case signal(Int32, coreDumped: Bool)
    /// It has ended, and the kernel has told somebody else how, or nobody.
    case unseen
  }

  /// By itself or not.
  public let ending: Ending
  /// The most memory it ever had in RAM, in bytes. It starts from the size of the process that spawned it
  /// (the kernel counts the time before exec), so for a small child of a large parent it says little.
  public let maxResidentBytes: Int64

  /// Puts the facts together.
  public init(ending: Ending, maxResidentBytes: Int64) {
    self.ending = ending
    self.maxResidentBytes = maxResidentBytes
  }

  init(_ ending: linux_ending) {
    self.ending =
      ending.exited ? .code(ending.code) : .signal(ending.signal, coreDumped: ending.core_dumped)
    maxResidentBytes = ending.max_resident_kilobytes * 1024
  }

  /// Whether it ended by itself with code 0.
  public var isSuccess: Bool { ending == .code(0) }

  /// `code 7`, `SIGKILL`, `SIGSEGV (core dumped)`, or `unseen`.
  public var description: String {
    switch ending {
    case .code(let code): "code \(code)"
    case .signal(let signal, let coreDumped): Signals.name(signal) + (coreDumped ? " (core dumped)" : "")
    case .unseen: "unseen"
    }
  }
}
