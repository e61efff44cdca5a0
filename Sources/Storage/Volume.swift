// Owns what a store asks of the file system beside SQLite: lengths of files, an empty file, room that is held back. SQLite
// asks for everything else through the VFS that is named here. Production has one volume, the system's; a simulated one
// loses power.
// Invariant: a database and everything beside it are on one volume, and SQLite finds the same files there as the store.

import ByteText
import Glibc

/// The place where databases lie, under paths of its own.
public protocol Volume {
  /// The name under which SQLite knows this volume; nil for the file system of the process. See sqlite3_vfs_register.
  var vfs: String? { get }
  /// Whether nothing has this name, not even a link that leads nowhere.
  func isMissing(_ path: String) -> Bool
  /// The length of a file in bytes; 0 where there is none.
  func length(of path: String) -> Int64
  /// Makes an empty file that only its owner may read, unless something has this name.
  ///
  /// - Returns: 0, also where there is a file; the system's number otherwise.
  func create(_ path: String) -> Int32
  /// The room that is held back in a file of this name.
  func reserve(at path: String) -> any Reserve
  /// Makes a file longer, with room on the volume; it stays as it is where there is none.
  func extend(_ path: String, by bytes: Int64)
  /// A connection is left open for good: its process is about to end. See sqlite3_close_v2.
  func abandoned(_ connection: OpaquePointer)
  /// Whether a mistake of this name is to be made at the place that asks, to see that it is found. The system's volume
  /// makes none.
  func makes(_ mistake: StaticString) -> Bool
}

/// Room on a volume that is held back for the day on which there is none.
public protocol Reserve: AnyObject {
  /// Bytes that are held back.
  var size: Int64 { get }
  /// Whether this volume can hold room back.
  var isPossible: Bool { get }
  /// Holds back so many bytes in all; false where there is not so much room, and then nothing has changed.
  func grow(to wanted: Int64) -> Bool
  /// Gives everything back beyond so many bytes.
  func cut(to wanted: Int64)
  /// The bytes of the volume as a whole, and those that are free; nil where it does not say.
  var room: (capacity: Int64, free: Int64)? { get }
}

/// The file system of the process.
public struct SystemVolume: Volume {
  public init() {}
  /// None of its own.
  public var vfs: String? { nil }

  /// See lstat(2).
  public func isMissing(_ path: String) -> Bool {
    var status = stat()
    return path.withByteString { lstat($0, &status) } != 0 && errno == ENOENT
  }

  /// See stat(2).
  public func length(of path: String) -> Int64 {
    var status = stat()
    return path.withByteString { stat($0, &status) } == 0 ? Int64(status.st_size) : 0
  }

  /// See open(2).
  public func create(_ path: String) -> Int32 {
    let descriptor = path.withByteString {
      Glibc.open($0, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0o600)
    }
    guard descriptor >= 0 else { return errno == EEXIST ? 0 : errno }
    Glibc.close(descriptor)
    return 0
  }

  /// See ``DiskReserve``.
  public func reserve(at path: String) -> any Reserve { DiskReserve(path: path) }
  /// See posix_fallocate(3).
  public func extend(_ path: String, by bytes: Int64) { DiskReserve.extend(path, by: bytes) }
  /// Nothing: the system closes what a process leaves open.
  public func abandoned(_ connection: OpaquePointer) {}
  /// None.
  public func makes(_ mistake: StaticString) -> Bool { false }
}
