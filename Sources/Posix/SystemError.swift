// Owns the one error of this floor, and the one place where a system call is retried and its failure is read.
// Invariant: `code` is the errno of `call`, read before anything else could change it.
// Failure: this is how failure looks.
import ByteText
import CLinux
import Glibc

/// A system call that failed: which, on what, and why.
public struct SystemError: Error, Sendable, Hashable {
  /// The C name of the call, such as `open`.
  public let call: String
  /// What the call was about: a path, `descriptor 7`, `process 4242`, or nothing.
  public let subject: String
  /// The value of errno (errno(3)).
  public let code: CInt

  public init(call: String, subject: String, code: CInt) {
    (self.call, self.subject, self.code) = (call, subject, code)
  }

  /// Whether what it was about is not there (ENOENT, ENOTDIR).
  public var isMissing: Bool { code == ENOENT || code == ENOTDIR }

  /// Whether something has run out that somebody may give back: descriptors of the process or the system, or memory
  /// of the kernel (EMFILE, ENFILE, ENOMEM, ENOBUFS).
  public var isShortage: Bool { [EMFILE, ENFILE, ENOMEM, ENOBUFS].contains(code) }
  /// The symbol of the code, such as `EACCES`, or its number where the C library knows none.
  public var symbol: String { linux_error_name(code).map { String(cString: $0) } ?? "errno \(code)" }
  /// The C library's sentence for the code, in English whatever the locale.
  public var reason: String { linux_error_text(code).map { String(cString: $0) } ?? "Unknown error" }
}

extension SystemError: CustomStringConvertible {
  /// `open("/x/y"): Permission denied (EACCES)`. Control characters of a path are escaped.
  public var description: String {
    let isPlain = subject.isEmpty || subject.hasPrefix("descriptor ") || subject.hasPrefix("process ")
    let shown = isPlain ? subject : ByteText.quoted(subject)
    return "\(call)(\(shown)): \(reason) (\(symbol))"
  }
}

/// Repeats a call for as long as a signal interrupts it.
@inline(__always)
func uninterrupted<Result: SignedInteger>(_ call: () -> Result) -> Result {
  while true {
    let result = call()
    if result != -1 || errno != EINTR { return result }
  }
}

/// Performs a call that says -1 and sets errno when it fails; EINTR is retried here and nowhere else.
@inline(__always)
@discardableResult
func systemCall<Result: SignedInteger>(
  _ name: String, on subject: @autoclosure () -> String, _ call: () -> Result
) throws(SystemError) -> Result {
  let result = uninterrupted(call)
  guard result == -1 else { return result }
  let code = errno
  throw SystemError(call: name, subject: subject(), code: code)
}

/// The same for a call on a descriptor.
@inline(__always)
@discardableResult
func systemCall<Result: SignedInteger>(
  _ name: String, on number: CInt, _ call: (CInt) -> Result
) throws(SystemError) -> Result {
  try systemCall(name, on: "descriptor \(number)") { call(number) }
}

/// The same for a call on a path. One that holds a zero byte would be cut short, so it is refused (EINVAL).
@discardableResult
func pathCall<Result: SignedInteger>(
  _ name: String, _ path: String, _ call: (UnsafePointer<CChar>) -> Result
) throws(SystemError) -> Result {
  guard !path.utf8.contains(0) else { throw SystemError(call: name, subject: path, code: EINVAL) }
  return try systemCall(name, on: path) { path.withByteString(call) }
}
