// Owns a directory that a test may fill, and that is gone when the test is over, however it ends.
// It must not know what the test does there.
// Invariant: the name is fresh (mkdtemp), below /tmp, and everything under it is removed.
// Failure: the test that asked for it fails.
import Glibc
import Posix

struct TemporaryDirectory: ~Copyable {
  let path: String

  init() throws {
    var template = Array("/tmp/posix-tests-XXXXXX".utf8CString)
    guard mkdtemp(&template) != nil else { throw SystemError(call: "mkdtemp", subject: "/tmp", code: errno) }
    path = String(decoding: template.dropLast().map { UInt8(bitPattern: $0) }, as: UTF8.self)
  }

  deinit { Directory.removeTree(path) }

  func file(_ name: String) -> String { Paths.join(path, name) }

  /// A directory whose path is far longer than a socket address allows.
  func longDirectory() throws -> String {
    let deep = Paths.join(path, String(repeating: "d", count: 60), String(repeating: "e", count: 60))
    try Directory.create(path: deep)
    return deep
  }
}
