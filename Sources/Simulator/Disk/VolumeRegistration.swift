// Registration of a simulated volume with SQLite: one VFS with its own name for each volume.
// Invariant: no call of SQLite on this VFS reaches a real disk. See https://sqlite.org/vfs.html and
// https://sqlite.org/c3ref/vfs.html.
import BankModel
import CSQLite
import Glibc

/// A simulated volume that SQLite knows by the name of its VFS.
final class VolumeRegistration {
  let name: String
  private let vfs: UnsafeMutablePointer<sqlite3_vfs>
  unowned let volume: SimulatedVolume
  /// Randomness for SQLite, separate from that of the faults.
  private var chance: SeededGenerator
  /// A constant time, in milliseconds since noon in Greenwich on 24 November 4714 B.C.
  private static let julianMilliseconds: Int64 = 2_460_000 * 86_400_000

  init(of volume: SimulatedVolume, seed: UInt64) {
    _ = Self.settings
    self.volume = volume
    chance = SeededGenerator(seed: seed)
    vfs = .allocate(capacity: 1)
    name = "volume-\(UInt(bitPattern: vfs))"
    vfs.initialize(to: Self.methods)
    vfs.pointee.zName = UnsafePointer(strdup(name))
    vfs.pointee.pAppData = Unmanaged.passUnretained(self).toOpaque()
    let code = sqlite3_vfs_register(vfs, 0)
    precondition(code == SQLITE_OK, "SQLite accepts every VFS with a name.")
  }

  /// Removes the VFS from SQLite, and frees its memory.
  func remove() {
    sqlite3_vfs_unregister(vfs)
    Glibc.free(UnsafeMutablePointer(mutating: vfs.pointee.zName))
    vfs.deallocate()
  }

  /// Ends the statements of a connection, and closes it.
  static func close(_ connection: OpaquePointer) {
    while let statement = sqlite3_next_stmt(connection, nil) { sqlite3_finalize(statement) }
    sqlite3_close_v2(connection)
  }

  /// Turns off SQLite's memory statistics, as a store does. This must precede the registration of a VFS, which
  /// initializes SQLite.
  private static let settings: Void = { _ = sqlite_leave_out_memory_statistics() }()

  /// The table of the methods that SQLite calls to open, delete and look up files.
  private static var methods: sqlite3_vfs {
    var vfs = sqlite3_vfs()
    vfs.iVersion = 2
    vfs.szOsFile = Int32(OpenVolumeFile.place + MemoryLayout<UnsafeMutableRawPointer>.size)
    vfs.mxPathname = 512
    vfs.xOpen = { vfs, name, file, flags, outFlags in
      guard let file else { return SQLITE_CANTOPEN }
      file.pointee.pMethods = nil
      let volume = VolumeRegistration.of(vfs).volume
      guard let opened = OpenVolumeFile(volume, name.map { String(cString: $0) }, flags) else {
        return SQLITE_CANTOPEN
      }
      outFlags?.pointee = flags
      opened.settle(in: file)
      return SQLITE_OK
    }
    vfs.xDelete = { vfs, name, syncsNames in
      guard let name else { return SQLITE_ERROR }
      return VolumeRegistration.of(vfs).delete(String(cString: name), syncsNames: syncsNames != 0)
    }
    vfs.xAccess = { vfs, name, flags, result in
      guard let name else { return SQLITE_ERROR }
      let file = VolumeRegistration.of(vfs).volume.file(String(cString: name))
      // An empty file counts as missing, as in SQLite's own VFS.
      let isThere = flags == SQLITE_ACCESS_EXISTS ? (file?.size ?? 0) > 0 : file != nil
      result?.pointee = isThere ? 1 : 0
      return SQLITE_OK
    }
    vfs.xFullPathname = { _, name, room, target in
      guard let name, let target, strlen(name) < Int(room) else { return SQLITE_CANTOPEN }
      strcpy(target, name)
      return SQLITE_OK
    }
    vfs.xRandomness = { vfs, count, target in
      guard let target else { return 0 }
      for place in 0..<Int(count) {
        target[place] = CChar(truncatingIfNeeded: VolumeRegistration.of(vfs).chance.next())
      }
      return count
    }
    // Locks are held permanently, so waiting for one is pointless.
    vfs.xSleep = { _, microseconds in microseconds }
    vfs.xCurrentTime = { _, days in
      days?.pointee = Double(VolumeRegistration.julianMilliseconds) / 86_400_000
      return SQLITE_OK
    }
    vfs.xCurrentTimeInt64 = { _, milliseconds in
      milliseconds?.pointee = VolumeRegistration.julianMilliseconds
      return SQLITE_OK
    }
    vfs.xGetLastError = { vfs, _, _ in VolumeRegistration.of(vfs).volume.lastError }
    return vfs
  }

  /// The registration whose VFS SQLite has called.
  static func of(_ vfs: UnsafeMutablePointer<sqlite3_vfs>?) -> VolumeRegistration {
    guard let data = vfs?.pointee.pAppData else { preconditionFailure("A VFS has a volume.") }
    return Unmanaged<VolumeRegistration>.fromOpaque(data).takeUnretainedValue()
  }

  /// Removes a name. Connections that have the file open keep it.
  func delete(_ name: String, syncsNames: Bool) -> Int32 {
    guard volume.file(name) != nil else { return SQLITE_IOERR | 23 << 8 }
    guard volume.passes() else { return SQLITE_IOERR | 10 << 8 }
    volume.give(name, nil)
    if syncsNames { volume.syncNames() }
    return SQLITE_OK
  }
}
