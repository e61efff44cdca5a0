// File system operations of a store other than those of SQLite: lengths of files, creation of an empty file,
// reserved space. A volume contains the name of the VFS that SQLite uses. A simulated volume can lose power.
// Invariant: a database and the files next to it are on one volume, on which SQLite and the store see the same
// files.

import ByteText
import Glibc

/// A file system for databases.
public protocol Volume {
  /// Name of SQLite's VFS for this volume; nil for SQLite's default VFS. See sqlite3_vfs_register.
  var vfs: String? { get }
  /// True if no file has this path, not even a dangling link.
  func isMissing(_ path: String) -> Bool
  /// Length of a file in bytes; 0 if it does not exist.
  func length(of path: String) -> Int64
  /// Creates an empty file with mode 0600, unless the file exists. Returns 0, or an errno value on failure.
  func create(_ path: String) -> Int32
  /// The space reserve in the file with this path.
  func reserve(at path: String) -> any SpaceReserve
  /// Extends a file by allocated bytes. The file is unchanged if there is not enough space.
  func extend(_ path: String, by bytes: Int64)
  /// Records a connection that is left open because its process is about to exit. See sqlite3_close_v2.
  func abandoned(_ connection: OpaquePointer)
}

/// Reserved space on a volume, for a full disk.
public protocol SpaceReserve: AnyObject {
  /// Reserved bytes.
  var size: Int64 { get }
  /// True if this volume can reserve space.
  var isPossible: Bool { get }
  /// Grows the reserve to this many bytes. Returns false, and keeps its size, if it cannot grow to this size.
  func grow(to wanted: Int64) -> Bool
  /// Shrinks the reserve to this many bytes.
  func cut(to wanted: Int64)
  /// Total and free bytes of the volume; nil if the volume does not report them.
  var room: (capacity: Int64, free: Int64)? { get }
}

/// File system of the process.
public struct SystemVolume: Volume {
  public init() {}
  /// Nil: SQLite's default VFS.
  public var vfs: String? { nil }

  /// True if lstat(2) finds no file.
  public func isMissing(_ path: String) -> Bool {
    var status = stat()
    return path.withByteString { lstat($0, &status) } != 0 && errno == ENOENT
  }

  /// Length in bytes by stat(2); 0 if the call fails.
  public func length(of path: String) -> Int64 {
    var status = stat()
    return path.withByteString { stat($0, &status) } == 0 ? Int64(status.st_size) : 0
  }

  /// Creates an empty file by open(2), unless the file exists. Returns 0, or an errno value on failure.
  public func create(_ path: String) -> Int32 {
    let descriptor = path.withByteString {
      Glibc.open($0, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0o600)
    }
    guard descriptor >= 0 else { return errno == EEXIST ? 0 : errno }
    Glibc.close(descriptor)
    return 0
  }

  /// The space reserve in a file; see ``DiskReserve``.
  public func reserve(at path: String) -> any SpaceReserve { DiskReserve(path: path) }
  /// Extends a file by posix_fallocate(3).
  public func extend(_ path: String, by bytes: Int64) { DiskReserve.extend(path, by: bytes) }
  /// Does nothing: the system closes the files at process exit.
  public func abandoned(_ connection: OpaquePointer) {}
}
