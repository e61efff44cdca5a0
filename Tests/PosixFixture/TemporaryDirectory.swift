// Owns a directory that a test may fill, and that is gone when the test is over, however it ends.
// It must not know what the test does there.
// Invariant: the name is fresh (mkdtemp), below /tmp, and everything under it is removed.
// Failure: the test that asked for it fails.
import Glibc
import Posix

public struct TemporaryDirectory: ~Copyable {
  public let path: String

  /// - Parameter purpose: what its name begins with.
  public init(_ purpose: String = "posix-tests") throws {
    var template = Array("/tmp/\(purpose)-XXXXXX".utf8CString)
    guard mkdtemp(&template) != nil else { throw SystemError(call: "mkdtemp", subject: "/tmp", code: errno) }
    path = String(decoding: template.dropLast().map { UInt8(bitPattern: $0) }, as: UTF8.self)
  }

  deinit { Directory.removeTree(path) }

  public func file(_ name: String) -> String { Paths.join(path, name) }
}
