// Owns the reasons for which a command does not even begin, apart from a shortage, which passes.
// Invariant: each has the exit code that a shell would have given, so that one table judges them and what has run.
// Failure: this is how failure looks.
import ByteText
import Posix

/// Why a command was not started.
public enum CommandRefusal: Error, Sendable, Hashable {
  /// No such program. `searched` is the `PATH` that was looked through; nil for a path that leads nowhere.
  case programMissing(String, searched: String?)
  /// The program is there and cannot be run: it is no program, may not be run, or what it needs is not there.
  case notExecutable(String, reason: String)
  /// The working directory is missing, or may not be entered.
  case directoryUnusable(String, reason: String)
  /// The payload is an argument and longer than the kernel hands over.
  case argumentTooLong(bytes: Int)
  /// The payload is an argument and holds a zero byte, at which an argument ends.
  case zeroByteInArgument

  /// What a shell would have exited with: 127 for what is missing, 126 for what cannot be run; and 65 (EX_DATAERR) where
  /// it is the payload that does not fit.
  public var exitCode: Int32 {
    switch self {
    case .programMissing: 127
    case .notExecutable, .directoryUnusable: 126
    case .argumentTooLong, .zeroByteInArgument: 65
    }
  }
}

extension CommandRefusal: CustomStringConvertible {
  /// A sentence without its end: what is missing, where it was looked for, or why it cannot be run.
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
