// Socket addresses for paths of any length, and the removal of leftover socket files. Invariant: only a
// socket without a listener is ever unlinked. Errors: SystemError with the path as the caller passed it.
import ByteText
import CLinux
import Glibc

extension UnixSocket {
  /// Result of removing a leftover socket file.
  public enum StaleOutcome: Sendable, Hashable {
    case notThere
    /// A socket without a listener, which was removed.
    case removed
    /// A process listens (or its owner forbids the check); not changed.
    case inUse
    /// The file with that name is not a socket; not changed.
    case notASocket
  }

  /// Unlinks the socket file of a dead server, and nothing else.
  ///
  /// Another server could bind meanwhile: the caller holds the ``LockFile`` that every server of this path
  /// takes first.
  public static func removeStaleSocket(path: String) throws(SystemError) -> StaleOutcome {
    guard let facts = try FileFacts.inspect(path, followLinks: false) else { return .notThere }
    guard facts.isSocket else { return .notASocket }
    switch try connect(path: path, nonBlocking: true) {
    case .notThere: return .notThere
    case .connected: return .inUse
    case .busy: return .inUse
    case .permissionDenied: return .inUse
    case .refused: break
    }
    do throws(SystemError) { try pathCall("unlink", path) { Kernel.unlink($0) } } catch {
      if error.code == ENOENT { return .notThere }
      throw error
    }
    return .removed
  }

  /// Removes the file of a socket that does not listen any more, if it exists. `unlink(2)`
  public static func remove(_ path: String) { _ = path.withByteString { Kernel.unlink($0) } }

  /// Calls `call` with a path of the same file that fits into a socket address.
  ///
  /// A path that does not fit is replaced by its directory, opened and named by `/proc/self/fd`. Only the
  /// last part of the path is limited then, to 80-odd bytes.
  static func atAddress(
    of path: String, call name: String, _ call: (UnsafePointer<CChar>) -> CInt
  ) throws(SystemError) {
    guard ByteText.bytes(of: path).count > Int(LINUX_SOCKET_PATH_LIMIT) else {
      try pathCall(name, path, call)
      return
    }
    let directory = FileDescriptor(
      owning: try pathCall("open", Paths.directory(of: path)) { linux_open_directory_path($0) })
    let short = "/proc/self/fd/\(directory.rawValue)/\(Paths.lastPart(of: path))"
    do throws(SystemError) { try pathCall(name, short, call) } catch {
      throw SystemError(call: name, subject: path, code: error.code)
    }
  }
}
