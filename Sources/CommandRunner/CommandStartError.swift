// Reasons why a command cannot start at all, except temporary shortages.
// Invariant: each reason has an exit code, so one ``ExitTable`` applies to commands that ran and to commands
// that did not start.
import ByteText
import Posix

/// Reason why a command was not started.
public enum CommandStartError: Error, Sendable, Hashable {
  /// There is no such program. `searched` is the `PATH` that was searched; nil if the program is given as a
  /// path.
  case programMissing(String, searched: String?)
  /// The program exists but cannot be run, for example because it is not executable or its interpreter is
  /// missing.
  case notExecutable(String, reason: String)
  /// The working directory is missing, or cannot be entered.
  case directoryUnusable(String, reason: String)
  /// The payload is an argument and exceeds the kernel's limit for one argument, or `execve(2)` has failed
  /// with E2BIG. `bytes` is the length of the payload or, after E2BIG, of the longest argument.
  case argumentTooLong(bytes: Int)
  /// The payload is an argument and contains a zero byte, which would terminate the argument.
  case zeroByteInArgument

  /// Exit code for the ``ExitTable``: 127 and 126 as in a shell, 65 is EX_DATAERR.
  public var exitCode: Int32 {
    switch self {
    case .programMissing: 127
    case .notExecutable, .directoryUnusable: 126
    case .argumentTooLong, .zeroByteInArgument: 65
    }
  }
}

extension CommandStartError: CustomStringConvertible {
  /// A sentence without its full stop.
  public var description: String {
    switch self {
    case .programMissing(let name, let searched?):
      "no program \(ByteText.quoted(name)) in PATH=\(ByteText.quoted(searched))"
    case .programMissing(let path, nil): "no program at \(ByteText.quoted(path))"
    case .notExecutable(let path, let reason): "\(ByteText.quoted(path)) cannot be run: \(reason)"
    case .directoryUnusable(let path, let reason):
      "the directory \(ByteText.quoted(path)) cannot be used: \(reason)"
    case .argumentTooLong(let bytes):
      "a payload of \(bytes) bytes is too long for an argument, which has at most \(CommandTemplate.longestArgument)"
    case .zeroByteInArgument: "a payload with a zero byte cannot be an argument"
    }
  }
}
