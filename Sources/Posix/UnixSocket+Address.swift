// Socket addresses for paths of any length, and the removal of socket files of dead servers. Invariant:
// `removeStaleSocket(path:)` unlinks only a socket without a listener, if the caller holds the lock of its path.
// Errors: SystemError with the path that the caller passed, or with its directory.
import ByteText
import CLinux
import Glibc

extension UnixSocket {
  /// Result of removing the socket file of a dead server.
  public enum StaleOutcome: Sendable, Hashable {
    /// There is no file with this path.
    case noSuchFile
    /// A socket without a listener, which was removed.
    case removed
    /// A process listens, or the check was not permitted. The file was not changed.
    case inUse
    /// The file with this path is not a socket. It was not changed.
    case notASocket
  }

  /// Unlinks the socket file of a dead server, and no other file.
  ///
  /// Another server could bind the path during the call, so the caller must hold a ``LockFile`` that excludes other
  /// servers of this path.
  public static func removeStaleSocket(path: String) throws(SystemError) -> StaleOutcome {
    guard let facts = try FileMetadata.inspect(path, followLinks: false) else { return .noSuchFile }
    guard facts.isSocket else { return .notASocket }
    switch try connect(path: path, nonBlocking: true) {
    case .noSuchFile: return .noSuchFile
    case .connected: return .inUse
    case .busy: return .inUse
    case .permissionDenied: return .inUse
    case .refused: break
    }
    do throws(SystemError) { try pathCall("unlink", path) { Kernel.unlink($0) } } catch {
      if error.code == ENOENT { return .noSuchFile }
      throw error
    }
    return .removed
  }

  /// Removes the file of a socket that does not listen any more, if the file exists. `unlink(2)`
  public static func remove(_ path: String) { _ = path.withByteString { Kernel.unlink($0) } }

  /// Calls `call` with `path`, or with a shorter path of the same file if it does not fit into a socket address. `name`
  /// is the system call, for errors.
  ///
  /// If the path is too long for an address, its directory is opened and replaced by the path of its descriptor
  /// in `/proc/self/fd`. Then only the length of the last component is limited.
  static func withAddress(
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
