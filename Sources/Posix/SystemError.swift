// Errors of system calls, and the functions that retry a system call after EINTR.
// Invariant: errno is read directly after a call has failed.
import ByteText
import CLinux
import Glibc

/// A failed system call: its name, its object, and the reason.
public struct SystemError: Error, Sendable, Hashable {
  /// C name of the call, such as `open`.
  public let call: String
  /// Object of the call, such as a path, `descriptor 7` or `process 4242`; may be empty.
  public let subject: String
  /// An errno value. `errno(3)`
  public let code: CInt

  public init(call: String, subject: String, code: CInt) {
    (self.call, self.subject, self.code) = (call, subject, code)
  }

  /// True if the path does not exist (ENOENT, ENOTDIR).
  public var isMissing: Bool { code == ENOENT || code == ENOTDIR }

  /// True for a temporary shortage: descriptors of the process or the system, or memory of the kernel
  /// (EMFILE, ENFILE, ENOMEM, ENOBUFS).
  public var isShortage: Bool { [EMFILE, ENFILE, ENOMEM, ENOBUFS].contains(code) }
  /// Symbol of the code, such as `EACCES`; `errno 7` if the C library has no symbol for it.
  public var symbol: String { linux_error_name(code).map { String(cString: $0) } ?? "errno \(code)" }
  /// The C library's text for the code, in English for every locale.
  public var reason: String { linux_error_text(code).map { String(cString: $0) } ?? "Unknown error" }
}

extension SystemError: CustomStringConvertible {
  /// Text such as `open("/x/y"): Permission denied (EACCES)`. Control characters of a path are escaped.
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

/// Performs a call that returns -1 and sets errno on error. EINTR is retried.
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

/// Performs a call on a descriptor that returns -1 and sets errno on error.
@inline(__always)
@discardableResult
func systemCall<Result: SignedInteger>(
  _ name: String, on number: CInt, _ call: (CInt) -> Result
) throws(SystemError) -> Result {
  try systemCall(name, on: "descriptor \(number)") { call(number) }
}

/// Performs a call on a path. A path with a zero byte would be truncated, so it is refused (EINVAL).
@discardableResult
func pathCall<Result: SignedInteger>(
  _ name: String, _ path: String, _ call: (UnsafePointer<CChar>) -> Result
) throws(SystemError) -> Result {
  guard !path.utf8.contains(0) else { throw SystemError(call: name, subject: path, code: EINVAL) }
  return try systemCall(name, on: path) { path.withByteString(call) }
}
