// Owns what a guardian needs of a bank's home: the lock, its socket, its log, and the places for them.
// It must not know the database, nor what makes a home good: where something is wrong the coordinator says so to
// whoever is starting the bank, in the protocol's words.
// Invariant: nothing is written into a home that belongs to somebody else, and nothing but directories and the lock
// into one that is in use.
// Failure: an outcome with the reason.
import Glibc
import Logbook
import Posix

/// The home of a guarded bank.
struct GuardedHome {
  let path: String

  /// The lock that coordinator and guardian share.
  var lock: String { Paths.join(path, "bank.lock") }
  /// Where the coordinator tells its guardian how it is.
  var socket: String { Paths.join(path, "run", "guardian.sock") }
  /// Where the coordinator hears that its signs of progress were heard.
  var answers: String { Paths.join(path, "run", "answers.sock") }
  /// Where whatever is said outside the logs goes.
  var standardError: String { Paths.join(path, "logs", "bankd.stderr") }
  private var log: String { Paths.join(path, "logs", "guardian.log") }

  /// What preparing a home came to.
  enum Outcome {
    /// The home is this guardian's.
    case taken(Equipment)
    /// Another coordinator or guardian has it.
    case occupied(pid: Int32?)
    /// Somebody looks into the closed bank, and has not ended in time.
    case inspected
    /// It cannot be used.
    case unusable(reason: String)
  }

  /// A directory, told apart from every other one.
  fileprivate struct Place: Equatable {
    let device: UInt64
    let inode: UInt64
  }

  /// What a guardian works with, held for as long as it guards.
  final class Equipment {
    fileprivate(set) var lock: LockFile
    fileprivate(set) var socket: FileDescriptor
    let log: LogFile
    /// Which directory the home is, whatever has its name later.
    fileprivate let place: Place

    fileprivate init(
      lock: consuming LockFile, socket: consuming FileDescriptor, log: LogFile, place: Place
    ) {
      self.place = place
      self.lock = lock
      self.socket = socket
      self.log = log
    }
  }

  /// The guardian says little, so little is kept.
  private static let logLimit: Int64 = 1 << 20

  /// How long whoever only looks into a closed bank is waited for.
  private static let patience = Duration.seconds(5)

  /// Takes the home.
  ///
  /// - Parameter inherited: The lock, where the coordinator that is to be guarded has it already.
  func take(_ inherited: consuming FileDescriptor?) -> Outcome {
    do throws(SystemError) {
      try makePlaces()
      let outcome: LockFile.Outcome
      if let inherited = consume inherited {
        // Whoever is refused is told of the coordinator, and not of its guardian.
        outcome = try LockFile.join(inherited, path: lock, isHolder: false)
      } else {
        outcome = try LockFile.acquire(path: lock, patience: Self.patience)
      }
      switch consume outcome {
      case .heldBy(let pid): return .occupied(pid: pid)
      case .visited: return .inspected
      case .acquired(let lock):
        let socket = try Datagrams.bind(path: self.socket)
        let log = try LogFile(path: log, worker: "guardian", generation: 1, limit: Self.logLimit, keep: 2)
        guard let place = try place() else { throw SystemError(call: "stat", subject: path, code: ENOENT) }
        return .taken(Equipment(lock: lock, socket: socket, log: log, place: place))
      }
    } catch {
      return .unusable(reason: error.description)
    }
  }

  /// Makes good what somebody has removed since, before the next coordinator is started: the one before it may have
  /// taken a new lock file, which it has left by dying.
  ///
  /// - Returns: Whether there is a new socket, to be watched in the old one's place.
  /// - Throws: where the home is gone, or somebody else has it.
  func repair(_ equipment: Equipment) throws(SystemError) -> Bool {
    if !equipment.lock.isAt(path: lock) {
      guard case .acquired(let fresh) = try LockFile.acquire(path: lock, patience: Self.patience) else {
        throw SystemError(call: "flock", subject: lock, code: EWOULDBLOCK)
      }
      equipment.lock = fresh
    }
    try Directory.create(path: Paths.directory(of: log), recursive: false)
    return try renewSocket(equipment)
  }

  /// Binds the socket anew where somebody has removed it.
  ///
  /// - Returns: Whether there is a new socket, to be watched in the old one's place.
  func renewSocket(_ equipment: Equipment) throws(SystemError) -> Bool {
    guard Datagrams.isReceived(at: socket) == false else { return false }
    try Directory.create(path: Paths.directory(of: socket), recursive: false)
    equipment.socket = try Datagrams.bind(path: socket)
    return true
  }

  /// A watch over the socket and the log.
  func watch(on loop: EventLoop) throws(SystemError) -> NameWatch {
    let directories = [path, Paths.directory(of: socket), Paths.directory(of: log)]
    let watch = try NameWatch(in: directories, on: loop)
    watch.expect([socket])
    // The log is rotated by its own rules.
    watch.expect([log], .any)
    try watch.remember()
    return watch
  }

  /// Whether what is said outside the logs can be kept.
  var canKeepErrors: Bool {
    (try? FileDescriptor.open(standardError, [.writeOnly, .create, .append], mode: 0o600)) != nil
  }

  /// Whether the home was removed or moved away, also where another one has its name by now. One that cannot be looked
  /// at is not gone.
  func isGone(_ equipment: Equipment) -> Bool {
    do throws(SystemError) { return try place() != equipment.place } catch { return false }
  }

  private func place() throws(SystemError) -> Place? {
    try FileFacts.inspect(path).map { Place(device: $0.device, inode: $0.inode) }
  }

  private func makePlaces() throws(SystemError) {
    try Directory.create(path: path)
    if let facts = try FileFacts.inspect(path), facts.owner != CurrentProcess.uid {
      throw SystemError(call: "open", subject: path, code: EPERM)
    }
    try Directory.create(path: Paths.join(path, "run"))
    try Directory.create(path: Paths.join(path, "logs"))
  }
}
