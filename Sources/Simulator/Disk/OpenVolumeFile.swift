// One file of a simulated volume as one SQLite connection has it open: the methods that SQLite calls, with
// the error codes of SQLite's own VFS for Unix.
// Invariant: the first sync of a journal or a log that may have been created also makes the names durable, as in
// SQLite's VFS. The extended codes are spelled out as in sqlite3.h, because the importer does not read computed macros.
import CSQLite
import Glibc

/// A file of a simulated volume that an SQLite connection has open.
final class OpenVolumeFile {
  /// Offset of the reference to this object in SQLite's file structure: after SQLite's own fields.
  static let place = MemoryLayout<sqlite3_file>.stride
  private let volume: SimulatedVolume
  private let file: VolumeFile
  /// What SQLite uses the file for.
  private let use: VolumeFileUse
  /// Name that is removed when the file is closed; nil to keep it.
  private let transientName: String?
  /// True if the next sync must also make the names of files durable.
  private var mustSyncNames: Bool
  /// The file grows by multiples of this number of bytes; 0 for any size. See SQLITE_FCNTL_CHUNK_SIZE.
  private var step = 0
  private var lastError: Int32 = 0

  /// Opens a file, or creates it if the flags allow that. Returns nil if neither is possible.
  init?(_ volume: SimulatedVolume, _ name: String?, _ flags: Int32) {
    self.volume = volume
    let isJournal = flags & (SQLITE_OPEN_MAIN_JOURNAL | SQLITE_OPEN_WAL | SQLITE_OPEN_SUPER_JOURNAL) != 0
    mustSyncNames = isJournal && flags & SQLITE_OPEN_CREATE != 0
    use = VolumeFileUse(flags)
    transientName = flags & SQLITE_OPEN_DELETEONCLOSE != 0 ? name : nil
    guard !volume.isDead else { return nil }
    if let name, let found = volume.file(name) {
      file = found
    } else {
      guard flags & SQLITE_OPEN_CREATE != 0 else {
        volume.lastError = ENOENT
        return nil
      }
      guard volume.free > 0, volume.passes() else {
        volume.lastError = volume.isDead ? EIO : ENOSPC
        return nil
      }
      file = VolumeFile()
      if let name { volume.give(name, file) }
    }
  }

  /// Stores this object and its methods in the file structure of SQLite, which then owns it.
  func settle(in target: UnsafeMutablePointer<sqlite3_file>) {
    UnsafeMutableRawPointer(target).storeBytes(
      of: Unmanaged.passRetained(self).toOpaque(), toByteOffset: Self.place, as: UnsafeMutableRawPointer.self)
    target.pointee.pMethods = Self.methods
  }

  /// The object that `settle(in:)` has stored in a file structure.
  private static func object(in target: UnsafeMutablePointer<sqlite3_file>?) -> Unmanaged<OpenVolumeFile> {
    guard let target else { preconditionFailure("SQLite calls a method on an open file.") }
    return Unmanaged.fromOpaque(
      UnsafeRawPointer(target).load(fromByteOffset: place, as: UnsafeMutableRawPointer.self))
  }

  /// The open file of a file structure of SQLite.
  private static func of(_ target: UnsafeMutablePointer<sqlite3_file>?) -> OpenVolumeFile {
    object(in: target).takeUnretainedValue()
  }

  /// Address of the table of methods, which all open files share and which is never freed.
  private static let sharedMethods: UInt = {
    let place = UnsafeMutablePointer<sqlite3_io_methods>.allocate(capacity: 1)
    place.initialize(to: newMethods)
    return UInt(bitPattern: place)
  }()

  private static var methods: UnsafePointer<sqlite3_io_methods>? { UnsafePointer(bitPattern: sharedMethods) }

  /// The table of methods in version 1, without shared memory: the stores lock their files permanently, and the index
  /// of the log is then in memory.
  private static var newMethods: sqlite3_io_methods {
    var methods = sqlite3_io_methods()
    methods.iVersion = 1
    methods.xClose = { target in
      let opened = OpenVolumeFile.object(in: target)
      opened.takeUnretainedValue().close()
      opened.release()
      return SQLITE_OK
    }
    methods.xRead = { target, buffer, count, offset in
      OpenVolumeFile.of(target).read(
        UnsafeMutableRawBufferPointer(start: buffer, count: Int(count)), Int(offset))
    }
    methods.xWrite = { target, bytes, count, offset in
      OpenVolumeFile.of(target).write(UnsafeRawBufferPointer(start: bytes, count: Int(count)), Int(offset))
    }
    methods.xTruncate = { OpenVolumeFile.of($0).resize(to: Int($1)) }
    methods.xSync = { target, _ in OpenVolumeFile.of(target).sync() }
    methods.xFileSize = { target, size in
      size?.pointee = Int64(OpenVolumeFile.of(target).file.size)
      return SQLITE_OK
    }
    methods.xLock = { OpenVolumeFile.of($0).lock($1) }
    methods.xUnlock = { OpenVolumeFile.of($0).unlock($1) }
    methods.xCheckReservedLock = { target, result in
      result?.pointee =
        OpenVolumeFile.of(target).file.locks.values.contains { $0 >= SQLITE_LOCK_RESERVED } ? 1 : 0
      return SQLITE_OK
    }
    methods.xFileControl = { OpenVolumeFile.of($0).control($1, $2) }
    methods.xSectorSize = { _ in 4_096 }
    methods.xDeviceCharacteristics = { _ in SQLITE_IOCAP_POWERSAFE_OVERWRITE }
    return methods
  }

  /// Reads bytes; missing ones are zeros, and SQLite receives the code of a short read.
  private func read(_ buffer: UnsafeMutableRawBufferPointer, _ offset: Int) -> Int32 {
    guard !volume.isDead else { return fail(EIO, SQLITE_IOERR | 1 << 8) }
    let count = file.read(into: buffer, at: offset)
    guard count < buffer.count else { return SQLITE_OK }
    UnsafeMutableRawBufferPointer(rebasing: buffer[count...]).initializeMemory(as: UInt8.self, repeating: 0)
    return SQLITE_IOERR | 2 << 8
  }

  /// Writes bytes, unless the volume is full or a fault makes the call fail.
  private func write(_ bytes: UnsafeRawBufferPointer, _ offset: Int) -> Int32 {
    guard volume.passes(), !volume.fails(.write) else { return fail(EIO, SQLITE_IOERR | 3 << 8) }
    let needed = volume.copiesOnWrite && volume.isFull ? bytes.count : offset + bytes.count - file.size
    guard Int64(needed) <= volume.free || needed <= 0 else { return SQLITE_FULL }
    guard !volume.mutantOmitsWrite(bytes, at: offset, to: file, use) else { return SQLITE_OK }
    file.write(bytes, at: offset)
    return SQLITE_OK
  }

  /// Truncates or extends the file to a size, rounded up to a multiple of `step`.
  private func resize(to size: Int) -> Int32 {
    let size = step > 0 ? (size + step - 1) / step * step : size
    guard volume.passes(), Int64(size - file.size) <= volume.free || size <= file.size else {
      return fail(volume.isDead ? EIO : ENOSPC, SQLITE_IOERR | 6 << 8)
    }
    file.resize(to: size)
    return SQLITE_OK
  }

  /// Makes the file durable, and the names of files if this is the first sync of a new journal or log.
  private func sync() -> Int32 {
    if volume.mutantOmitsSync(of: use) { return SQLITE_OK }
    guard volume.sync(file, names: mustSyncNames) else {
      return volume.mutantResultOfFailedSync(of: use) ?? fail(EIO, SQLITE_IOERR | 4 << 8)
    }
    mustSyncNames = false
    return SQLITE_OK
  }

  /// Releases the lock, and removes the name of a temporary file.
  private func close() {
    file.locks[ObjectIdentifier(self)] = nil
    if let transientName, !volume.isDead { volume.give(transientName, nil) }
  }

  /// Stores the error number for later queries, and returns the error code of SQLite.
  private func fail(_ reason: Int32, _ code: Int32) -> Int32 {
    lastError = reason
    volume.lastError = reason
    return code
  }

  /// Executes a file control of SQLite; `SQLITE_NOTFOUND` for those that are not simulated.
  private func control(_ operation: Int32, _ argument: UnsafeMutableRawPointer?) -> Int32 {
    guard let argument else { return SQLITE_NOTFOUND }
    switch operation {
    case SQLITE_FCNTL_LAST_ERRNO: argument.assumingMemoryBound(to: Int32.self).pointee = lastError
    case SQLITE_FCNTL_CHUNK_SIZE: step = Int(argument.assumingMemoryBound(to: Int32.self).pointee)
    case SQLITE_FCNTL_SIZE_HINT: return grow(to: Int(argument.assumingMemoryBound(to: Int64.self).pointee))
    default: return SQLITE_NOTFOUND
    }
    return SQLITE_OK
  }

  /// Called before SQLite writes up to this size: extends the file to the next multiple of `step`, if it grows by
  /// steps.
  private func grow(to size: Int) -> Int32 {
    let wanted = step > 0 ? (size + step - 1) / step * step : 0
    guard wanted > file.size else { return SQLITE_OK }
    guard Int64(wanted - file.size) <= volume.free else { return fail(ENOSPC, SQLITE_IOERR | 3 << 8) }
    guard volume.passes() else { return fail(EIO, SQLITE_IOERR | 3 << 8) }
    file.resize(to: wanted)
    return SQLITE_OK
  }

  /// The strongest lock of another connection on this file.
  private var highestOther: Int32 {
    file.locks.filter { $0.key != ObjectIdentifier(self) }.values.max() ?? SQLITE_LOCK_NONE
  }

  /// Takes a lock or makes it stronger; busy if another connection prevents that. See
  /// https://sqlite.org/lockingv3.html.
  private func lock(_ wanted: Int32) -> Int32 {
    guard !volume.isDead else { return SQLITE_IOERR | 15 << 8 }
    let other = highestOther
    switch wanted {
    case SQLITE_LOCK_SHARED where other >= SQLITE_LOCK_PENDING: return SQLITE_BUSY
    case SQLITE_LOCK_RESERVED where other >= SQLITE_LOCK_RESERVED: return SQLITE_BUSY
    case SQLITE_LOCK_EXCLUSIVE where other >= SQLITE_LOCK_RESERVED: return SQLITE_BUSY
    case SQLITE_LOCK_EXCLUSIVE where other >= SQLITE_LOCK_SHARED:
      file.locks[ObjectIdentifier(self)] = SQLITE_LOCK_PENDING
      return SQLITE_BUSY
    default: break
    }
    let own = file.locks[ObjectIdentifier(self)] ?? SQLITE_LOCK_NONE
    if wanted > own { file.locks[ObjectIdentifier(self)] = wanted }
    return SQLITE_OK
  }

  /// Makes the lock of this connection weaker, or releases it.
  private func unlock(_ wanted: Int32) -> Int32 {
    let own = file.locks[ObjectIdentifier(self)] ?? SQLITE_LOCK_NONE
    if wanted < own { file.locks[ObjectIdentifier(self)] = wanted == SQLITE_LOCK_NONE ? nil : wanted }
    return SQLITE_OK
  }
}
