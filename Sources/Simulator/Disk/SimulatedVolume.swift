// A simulated volume: its files by name, which names are durable, its size, and its faults.
// Invariant: a name is durable once the directory was synced after its change. A power loss keeps a prefix of the later
// changes, as a journaling file system does. A killed process loses nothing that it has written. After the process is
// killed or the power fails, no call changes a file until the next process starts.
import BankModel
import Glibc
import Storage
import Time

/// A file system for SQLite in memory, which loses what was not synced when the power fails.
final class SimulatedVolume: Volume {
  /// A call that a fault can make fail.
  enum Call {
    /// None of the bytes are written.
    case write
    /// An unknown part of the unsynced bytes becomes durable.
    case sync
  }

  /// Sector size in bytes. If a write spans several sectors, a power loss may keep some of them.
  let sector: Int
  /// True if a full volume also refuses to overwrite existing bytes, as a copy-on-write file system does.
  let copiesOnWrite: Bool
  /// True if the kernel marks unwritten data as clean after a failed sync.
  let dropsDirtyPagesAfterFailedSync: Bool
  private let capacity: Int64
  private var names: [String: VolumeFile] = [:]
  private var durableNames: [String: VolumeFile] = [:]
  /// Names that were given or removed (nil) since the directory was synced.
  private var unsyncedNames: [(name: String, file: VolumeFile?)] = []
  /// Bytes that each reserve file occupies.
  private var reserves: [String: Int64] = [:]
  private var chance: SeededGenerator
  private var registration: VolumeRegistration?
  /// Connections of SQLite that their stores have dropped, and that are closed with the process.
  private var abandonedConnections: [OpaquePointer] = []
  /// The planted bug of this history, if it is one of the disk; see `MutantVolume.swift`.
  var plantedBug: PlantedBug?
  /// True after the process was killed or the power has failed.
  private(set) var isDead = false
  /// Number of further changes and syncs that succeed. At the next one, the process is killed or the power fails.
  var callsUntilKill: Int?
  /// The next failing call: its kind, and its number among the calls of that kind, 1 for the next.
  private var failing: (call: Call, number: Int)?
  /// True while a fault keeps the volume from growing. Only space that was freed since the start of the fault is free.
  var isFull = false { didSet { if isFull != oldValue { fullAt = isFull ? used : nil } } }
  /// Used bytes at the moment when the volume became full; nil if it is not full.
  private var fullAt: Int64?
  /// Duration of the next sync, which is reported to ``onSlowSync``.
  var slowSync: TimeSpan?
  var onSlowSync: ((TimeSpan) -> Void)?
  /// Number of successful syncs of files.
  private(set) var syncs = 0
  var lastError: Int32 = 0

  init(seed: UInt64) {
    chance = SeededGenerator(seed: seed)
    sector = chance.draw(0...1) == 0 ? 512 : 4_096
    copiesOnWrite = chance.draw(0...3) == 0
    dropsDirtyPagesAfterFailedSync = chance.draw(0...1) == 0
    capacity = 64 << 20
    registration = VolumeRegistration(of: self, seed: chance.next())
  }

  deinit { registration?.remove() }
  var vfs: String? { registration?.name }
  func isMissing(_ path: String) -> Bool { names[path] == nil }
  func length(of path: String) -> Int64 { names[path].map { Int64($0.size) } ?? 0 }
  /// The reserve file of this name, which only occupies space until that runs out.
  func reserve(at path: String) -> any SpaceReserve { SimulatedReserve(path, on: self) }

  /// Creates an empty file, unless it exists. Returns 0 or the error number.
  func create(_ path: String) -> Int32 {
    if names[path] != nil { return 0 }
    guard passes() else { return EIO }
    guard free > 0 else { return ENOSPC }
    give(path, VolumeFile())
    return 0
  }

  /// Extends a file with zeros, if there is space.
  func extend(_ path: String, by bytes: Int64) {
    guard let file = names[path], bytes <= free, passes() else { return }
    file.resize(to: file.size + Int(bytes))
  }

  /// Keeps a connection that its store has dropped. It is closed when its files cannot be reached any more: see
  /// ``endProcess(losingPower:_:)``.
  func abandoned(_ connection: OpaquePointer) { abandonedConnections.append(connection) }
  func file(_ name: String) -> VolumeFile? { names[name] }

  /// Gives a name to a file, or removes the name (nil). The change is durable after a sync of the names.
  func give(_ name: String, _ file: VolumeFile?) {
    names[name] = file
    unsyncedNames.append((name, file))
  }

  /// True if a write-ahead log with content exists.
  var hasLog: Bool { names.contains { $0.key.hasSuffix("-wal") && $0.value.size > 0 } }
  /// Makes the write-ahead logs durable.
  func syncLogs() { for (name, file) in names where name.hasSuffix("-wal") { file.sync() } }
  /// Removes the rollback journals, as if none had been written.
  func forgetJournals() {
    for name in names.keys where name.hasSuffix("-journal") { names[name] = nil }
    for name in durableNames.keys where name.hasSuffix("-journal") { durableNames[name] = nil }
    unsyncedNames.removeAll { $0.name.hasSuffix("-journal") }
  }

  /// Makes the current names durable. See fsync(2) of a directory.
  func syncNames() {
    durableNames = names
    unsyncedNames.removeAll()
  }

  private var used: Int64 { names.values.reduce(0) { $0 + Int64($1.size) } + reserves.values.reduce(0, +) }
  var free: Int64 { max(0, (fullAt ?? capacity) - used) }
  /// Makes a call of this kind fail: the next one, or the one of this number from now on.
  func fail(_ call: Call, number: Int = 1) { failing = (call, number) }

  /// Ends the faults of the volume.
  func calm() {
    failing = nil
    callsUntilKill = nil
    slowSync = nil
    isFull = false
  }

  /// Counts a change or a sync, at which the process may be killed. Returns false if the process is dead.
  func passes() -> Bool {
    guard !isDead else { return false }
    guard let left = callsUntilKill else { return true }
    callsUntilKill = left - 1
    guard left <= 0 else { return true }
    callsUntilKill = nil
    isDead = true
    return false
  }

  /// Counts a call, and returns true if it is the one that has to fail.
  func fails(_ call: Call) -> Bool {
    guard let failing, failing.call == call else { return false }
    self.failing = failing.number > 1 ? (call, failing.number - 1) : nil
    return failing.number <= 1
  }

  /// Makes a file durable, and the names if requested; false if that has failed.
  func sync(_ file: VolumeFile, names: Bool) -> Bool {
    guard passes() else { return false }
    if let time = slowSync {
      slowSync = nil
      onSlowSync?(time)
    }
    guard !fails(.sync) else {
      file.failToSync(sector: sector, forgets: dropsDirtyPagesAfterFailedSync, &chance)
      return false
    }
    syncs += 1
    file.sync()
    if names { syncNames() }
    return true
  }

  /// Ends the process that had files of this volume open; `forget` drops its stores. A power loss also discards a
  /// random part of the unsynced data.
  func endProcess(losingPower: Bool, _ forget: () -> Void) {
    isDead = true
    forget()
    for connection in abandonedConnections { VolumeRegistration.close(connection) }
    abandonedConnections.removeAll()
    if plantedBug == .createsWithoutJournal { forgetJournals() }
    if losingPower { losePower() }
    for file in names.values { file.locks.removeAll() }
    isDead = false
    callsUntilKill = nil
    failing = nil
  }

  /// Loses unsynced names and bytes, as the generator decides.
  private func losePower() {
    let count = Int(chance.draw(0...Int64(unsyncedNames.count)))
    for (name, file) in unsyncedNames.prefix(count) { durableNames[name] = file }
    names = durableNames
    unsyncedNames.removeAll()
    for name in names.keys.sorted() { names[name]?.losePower(sector: sector, &chance) }
  }

  /// A file that only occupies space, and is cut when space runs out.
  private final class SimulatedReserve: SpaceReserve {
    private let path: String
    private let volume: SimulatedVolume

    init(_ path: String, on volume: SimulatedVolume) { (self.path, self.volume) = (path, volume) }
    var size: Int64 { volume.reserves[path] ?? 0 }
    var isPossible: Bool { true }
    var room: (capacity: Int64, free: Int64)? { (volume.capacity, volume.free) }

    /// Makes the reserve at least this large. Returns false if there is no space, or the process is dead.
    func grow(to wanted: Int64) -> Bool {
      guard wanted > size else { return true }
      guard wanted - size <= volume.free, volume.passes() else { return false }
      volume.reserves[path] = wanted
      return true
    }

    func cut(to wanted: Int64) { if wanted <= size, volume.passes() { volume.reserves[path] = wanted } }
  }
}
