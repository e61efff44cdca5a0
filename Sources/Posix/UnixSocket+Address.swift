// Owns the way from a path to a socket address, for paths of any length, and the removal of leftover socket
// files. Invariant: nothing but a socket that nobody answers is ever unlinked. Failure: SystemError with the
// path as the caller wrote it.
import ByteText
import CLinux
import Glibc

extension UnixSocket {
  /// What became of a leftover socket file.
  public enum StaleOutcome: Sendable, Hashable {
    case notThere
    /// It was a socket that nobody listened on, and it is gone.
    case removed
    /// Somebody listens (or its owner does not let us ask); it was left alone.
    case inUse
    /// Something that is no socket has that name; it was left alone.
    case notASocket
  }

  /// Unlinks the socket file of a server that died, and nothing else.
  ///
  /// Somebody else could bind meanwhile: the caller holds the ``LockFile`` every server of this path takes first.
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

  /// Removes the name of a socket that is listened on no more; whether it was there does not matter. `unlink(2)`
  public static func remove(_ path: String) { _ = path.withByteString { Kernel.unlink($0) } }

  /// Hands `call` a path that fits into a socket address and means the same file.
  ///
  /// A path that does not fit is reached through its directory, opened and named by `/proc/self/fd`. Only the
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
