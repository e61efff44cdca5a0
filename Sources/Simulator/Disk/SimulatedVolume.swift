// Owns a simulated volume: its files by name, what of the names is durable, its size, and what goes wrong with it.
// Invariant: a name is durable when the directory was synced since it was given or taken; of later ones the loss of power
// keeps the first few, in their order, as a file system with a journal does. A process that is killed loses nothing that
// it has written. From the moment at which a process or the power is gone nothing more is done to any file.
import BankModel
import Glibc
import Storage
import Time

final class SimulatedVolume: Volume {
  enum Call {
    /// Nothing of it is written.
    case write
    /// Nobody knows what of it is durable.
    case sync
  }

  /// What a sector of this volume takes, in bytes: of several some may be written when the power goes.
  let sector: Int
  /// Whether a full volume refuses also to write over what is there, as one that copies on write does.
  let copiesOnWrite: Bool
  /// Whether a kernel that has failed to sync takes what it has not written for written.
  let forgetsAfterAFailedSync: Bool
  private let capacity: Int64
  private var names: [String: VolumeFile] = [:]
  private var durableNames: [String: VolumeFile] = [:]
  /// Names that were given, or taken (nil), since the directory was synced.
  private var unsyncedNames: [(name: String, file: VolumeFile?)] = []
  private var reserves: [String: Int64] = [:]
  private var chance: SeededGenerator
  private var registration: VolumeRegistration?
  private var abandonedConnections: [OpaquePointer] = []
  var mistake: String?
  /// The process, or the power, is gone: whatever is asked for has no effect.
  private(set) var isDead = false
  /// Whatever is done to a file, so many times more, is done; then the process, or the power, is gone.
  var fuse: Int?
  /// The number of the next call of a kind that fails: 1 for the next.
  private var failing: (call: Call, number: Int)?
  var isFull = false { didSet { if isFull != oldValue { fullAt = isFull ? used : nil } } }
  private var fullAt: Int64?
  /// How long the next sync takes; whoever spends the time is told in ``onSlowSync``.
  var slowSync: TimeSpan?
  var onSlowSync: ((TimeSpan) -> Void)?
  private(set) var syncs = 0
  var lastError: Int32 = 0

  init(seed: UInt64) {
    chance = SeededGenerator(seed: seed)
    sector = chance.draw(0...1) == 0 ? 512 : 4_096
    copiesOnWrite = chance.draw(0...3) == 0
    forgetsAfterAFailedSync = chance.draw(0...1) == 0
    capacity = 64 << 20
    registration = VolumeRegistration(of: self, seed: chance.next())
  }

  deinit { registration?.remove() }
  var vfs: String? { registration?.name }
  func isMissing(_ path: String) -> Bool { names[path] == nil }
  func length(of path: String) -> Int64 { names[path].map { Int64($0.size) } ?? 0 }
  func reserve(at path: String) -> any Reserve { SimulatedReserve(path, on: self) }
  func makes(_ mistake: StaticString) -> Bool { self.mistake.map { $0 == "\(mistake)" } ?? false }

  func create(_ path: String) -> Int32 {
    if names[path] != nil { return 0 }
    guard passes() else { return EIO }
    guard free > 0 else { return ENOSPC }
    give(path, VolumeFile())
    return 0
  }

  func extend(_ path: String, by bytes: Int64) {
    guard let file = names[path], bytes <= free, passes() else { return }
    file.resize(to: file.size + Int(bytes))
  }

  /// SQLite frees it when nothing can reach the files any more: see ``endProcess(losingPower:_:)``.
  func abandoned(_ connection: OpaquePointer) { abandonedConnections.append(connection) }
  func file(_ name: String) -> VolumeFile? { names[name] }

  func give(_ name: String, _ file: VolumeFile?) {
    names[name] = file
    unsyncedNames.append((name, file))
  }

  /// Makes all names durable as they are. See fsync(2) of a directory.
  func syncNames() {
    durableNames = names
    unsyncedNames.removeAll()
  }

  private var used: Int64 { names.values.reduce(0) { $0 + Int64($1.size) } + reserves.values.reduce(0, +) }
  var free: Int64 { max(0, (fullAt ?? capacity) - used) }
  func fail(_ call: Call, number: Int = 1) { failing = (call, number) }

  func calm() {
    failing = nil
    fuse = nil
    slowSync = nil
    isFull = false
  }

  func passes() -> Bool {
    guard !isDead else { return false }
    guard let left = fuse else { return true }
    fuse = left - 1
    guard left <= 0 else { return true }
    fuse = nil
    isDead = true
    return false
  }

  func fails(_ call: Call) -> Bool {
    guard let failing, failing.call == call else { return false }
    self.failing = failing.number > 1 ? (call, failing.number - 1) : nil
    return failing.number <= 1
  }

  /// Makes a file durable, and perhaps the names; false where that has failed.
  func sync(_ file: VolumeFile, names: Bool) -> Bool {
    guard passes() else { return false }
    if let time = slowSync {
      slowSync = nil
      onSlowSync?(time)
    }
    guard !fails(.sync) else {
      file.failToSync(sector: sector, forgets: forgetsAfterAFailedSync, &chance)
      return false
    }
    syncs += 1
    file.sync()
    if names { syncNames() }
    return true
  }

  /// The process that has files open here is gone, killed or ended; its stores are forgotten. With the power goes what was
  /// not synced.
  func endProcess(losingPower: Bool, _ forget: () -> Void) {
    isDead = true
    forget()
    for connection in abandonedConnections { VolumeRegistration.close(connection) }
    abandonedConnections.removeAll()
    if losingPower { losePower() }
    for file in names.values { file.locks.removeAll() }
    isDead = false
    fuse = nil
    failing = nil
  }

  private func losePower() {
    let count = Int(chance.draw(0...Int64(unsyncedNames.count)))
    for (name, file) in unsyncedNames.prefix(count) { durableNames[name] = file }
    names = durableNames
    unsyncedNames.removeAll()
    for name in names.keys.sorted() { names[name]?.losePower(sector: sector, &chance) }
  }

  private final class SimulatedReserve: Reserve {
    private let path: String
    private let volume: SimulatedVolume

    init(_ path: String, on volume: SimulatedVolume) { (self.path, self.volume) = (path, volume) }
    var size: Int64 { volume.reserves[path] ?? 0 }
    var isPossible: Bool { true }
    var room: (capacity: Int64, free: Int64)? { (volume.capacity, volume.free) }

    func grow(to wanted: Int64) -> Bool {
      guard wanted > size else { return true }
      guard wanted - size <= volume.free, volume.passes() else { return false }
      volume.reserves[path] = wanted
      return true
    }

    func cut(to wanted: Int64) { if wanted <= size, volume.passes() { volume.reserves[path] = wanted } }
  }
}
