// A directory that a test may fill, and that is removed when the test is over, however it ends. Invariant:
// the name is fresh (mkdtemp), below /tmp, and all its contents are removed. Failure: the test that requested
// it fails.
import Glibc
import Posix

public struct TemporaryDirectory: ~Copyable {
  public let path: String

  /// - Parameter purpose: the start of its name.
  public init(_ purpose: String = "posix-tests") throws {
    var template = Array("/tmp/\(purpose)-XXXXXX".utf8CString)
    guard mkdtemp(&template) != nil else { throw SystemError(call: "mkdtemp", subject: "/tmp", code: errno) }
    path = String(decoding: template.dropLast().map { UInt8(bitPattern: $0) }, as: UTF8.self)
  }

  deinit { Directory.removeTree(path) }

  public func file(_ name: String) -> String { Paths.join(path, name) }
}
