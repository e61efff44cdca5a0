// Metadata of a file, read by its path or by an open descriptor.
// Invariant: the metadata of a descriptor is that of the open file and not of a path, so a rename cannot change
// its file.
// Errors: SystemError; nil for a path that does not exist.
import ByteText
import CLinux
import Glibc

/// Metadata of a file.
public struct FileMetadata: Sendable, Hashable {
  /// User id of the owner.
  public let owner: uid_t
  /// Group id.
  public let group: gid_t
  /// Permissions, without the file type (0o700, not 0o40700).
  public let mode: mode_t
  /// Size in bytes; meaningful for regular files.
  public let size: Int64
  /// Device number. Together with ``inode`` it identifies the file; see ``identity``.
  public let device: UInt64
  /// Inode number on ``device``.
  public let inode: UInt64
  /// True for a directory.
  public let isDirectory: Bool
  /// True for a regular file.
  public let isFile: Bool
  /// True for a socket.
  public let isSocket: Bool

  public init(
    owner: uid_t, group: gid_t, mode: mode_t, size: Int64, device: UInt64, inode: UInt64, isDirectory: Bool,
    isFile: Bool, isSocket: Bool
  ) {
    (self.owner, self.group, self.mode) = (owner, group, mode)
    (self.size, self.device, self.inode) = (size, device, inode)
    (self.isDirectory, self.isFile, self.isSocket) = (isDirectory, isFile, isSocket)
  }

  /// Identity of a file, independent of its name.
  public struct Identity: Sendable, Hashable {
    let device: UInt64
    let inode: UInt64
  }

  /// Identity of this file.
  public var identity: Identity { Identity(device: device, inode: inode) }

  /// Metadata of the file with this path; nil if the path does not exist. `stat(2)`, `lstat(2)`
  public static func inspect(_ path: String, followLinks: Bool = true) throws(SystemError) -> FileMetadata? {
    if let kernel = Kernel.simulated { return kernel.metadata(of: path) }
    var facts = linux_file_facts()
    do throws(SystemError) {
      try pathCall(followLinks ? "stat" : "lstat", path) { linux_file_facts($0, followLinks, &facts) }
    } catch {
      if error.isMissing { return nil }
      throw error
    }
    return FileMetadata(facts)
  }
}

extension FileMetadata {
  /// Checks whether this process may execute the file. Returns 0 if it may, or an errno value. For a directory
  /// it checks search permission. `faccessat(2)` X_OK for the effective user
  public static func executionError(of path: String) -> CInt {
    guard !path.utf8.contains(0) else { return EINVAL }
    if let kernel = Kernel.simulated {
      guard let facts = kernel.metadata(of: path) else { return errno }
      return facts.mode & 0o111 == 0 ? EACCES : 0
    }
    return path.withByteString { path in uninterrupted { linux_may_execute(path) } == 0 ? 0 : errno }
  }
}

extension FileDescriptor {
  /// Metadata of the open file. `fstat(2)`
  public borrowing func metadata() throws(SystemError) -> FileMetadata {
    if let kernel = Kernel.simulated {
      guard let facts = kernel.metadata(of: rawValue) else {
        throw SystemError(call: "fstat", subject: subject, code: errno)
      }
      return facts
    }
    var facts = linux_file_facts()
    try systemCall("fstat", on: rawValue) { linux_descriptor_facts($0, &facts) }
    return FileMetadata(facts)
  }

  /// Time of the last write, in nanoseconds since 1970 UTC, by the file system's clock. `fstat(2)`
  public borrowing func modificationTime() throws(SystemError) -> Int64 {
    var status = stat()
    try systemCall("fstat", on: rawValue) { fstat($0, &status) }
    let (seconds, overflow) = Int64(status.st_mtim.tv_sec).multipliedReportingOverflow(by: 1_000_000_000)
    return overflow ? .max : seconds &+ Int64(status.st_mtim.tv_nsec)
  }
}

extension FileMetadata {
  init(_ facts: linux_file_facts) {
    self.init(
      owner: facts.owner, group: facts.group, mode: facts.mode & 0o7777, size: facts.size,
      device: facts.device, inode: facts.inode, isDirectory: linux_is_directory(facts.mode),
      isFile: linux_is_regular(facts.mode), isSocket: linux_is_socket(facts.mode))
  }
}
