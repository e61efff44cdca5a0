// Planted bugs of the disk: a volume that does less than SQLite asks for, as it would be asked less by a store with the
// bug. The store itself is unchanged.
import CSQLite

/// What SQLite uses a file for. See https://sqlite.org/c3ref/c_open_autoproxy.html.
enum VolumeFileUse {
  case database, log, journal, other

  init(_ flags: Int32) {
    if flags & SQLITE_OPEN_MAIN_DB != 0 {
      self = .database
    } else if flags & SQLITE_OPEN_WAL != 0 {
      self = .log
    } else if flags & (SQLITE_OPEN_MAIN_JOURNAL | SQLITE_OPEN_SUPER_JOURNAL) != 0 {
      self = .journal
    } else {
      self = .other
    }
  }
}

extension SimulatedVolume {
  /// True if the planted bug of this history omits a sync of such a file, and reports success.
  func mutantOmitsSync(of use: VolumeFileUse) -> Bool {
    switch plantedBug {
    case .neverSyncs: true
    case .syncsOnlyAtCheckpoint: use == .log
    case .checkpointsWithoutSync: use == .database && hasLog
    default: false
    }
  }

  /// Result of a sync that has failed; nil without a planted bug that changes it.
  func mutantResultOfFailedSync(of use: VolumeFileUse) -> Int32? {
    guard use == .log, !isDead else { return nil }
    return switch plantedBug {
    case .treatsFailedSyncAsCommit: SQLITE_OK
    case .treatsFailedSyncAsDiskFull: SQLITE_FULL
    default: nil
    }
  }

  /// True if the planted bug of this history omits a write. With a bug that syncs at checkpoints, the log is synced
  /// before the first write of the checkpoint, as SQLite does with `synchronous = NORMAL`.
  func mutantOmitsWrite(
    _ bytes: UnsafeRawBufferPointer, at offset: Int, to file: VolumeFile, _ use: VolumeFileUse
  ) -> Bool {
    switch plantedBug {
    case .syncsOnlyAtCheckpoint where use == .database: syncLogs()
    // A start rewrites the log with the same bytes.
    case .trustsLogAfterFailedSync where use == .log: return file.contains(bytes, at: offset)
    default: break
    }
    return false
  }
}
