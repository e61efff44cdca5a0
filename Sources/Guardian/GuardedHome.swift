// Files of a guardian in the home directory: the lock, its socket and its log.
// Invariant: nothing is written into a home of another user. In a home that is in use, only directories and the lock
// are created.
import Glibc
import Logging
import Posix
import Time

struct GuardedHome {
  let path: String

  /// Lock that coordinator and guardian share.
  var lock: String { Paths.join(path, "bank.lock") }
  /// Socket that receives the coordinator's messages to its guardian.
  var socket: String { Paths.join(path, "run", "guardian.sock") }
  /// Socket of the coordinator that receives the acknowledgements of its progress reports.
  var heartbeatReplies: String { Paths.join(path, "run", "answers.sock") }
  /// File that receives the standard error of a guardian in the background and of its coordinators.
  var standardError: String { Paths.join(path, "logs", "bankd.stderr") }
  private var controlSocket: String { Paths.join(path, "run", "bank.sock") }
  private var log: String { Paths.join(path, "logs", "guardian.log") }

  /// Result of an attempt to take the home.
  enum Outcome {
    case taken(GuardianResources)
    /// Another coordinator or guardian holds the lock, or a coordinator without the lock serves the home.
    case occupied(pid: Int32?)
    /// An inspection of the closed bank did not end in time.
    case inspected
    /// The home belongs to another user, or a file could not be created.
    case unusable(reason: String)
  }

  /// Identity of a directory, independent of its name.
  fileprivate struct FileID: Equatable {
    let device: UInt64
    let inode: UInt64
  }

  /// Resources of a guardian, held for as long as it guards.
  final class GuardianResources {
    fileprivate(set) var lock: LockFile
    fileprivate(set) var socket: FileDescriptor
    let log: LogFile
    /// Identity of the home directory. Another directory may have its name later.
    fileprivate let fileID: FileID

    fileprivate init(lock: consuming LockFile, socket: consuming FileDescriptor, log: LogFile, fileID: FileID)
    {
      self.fileID = fileID
      self.lock = lock
      self.socket = socket
      self.log = log
    }
  }

  /// Size in bytes at which the log is rotated.
  private static let logLimit: Int64 = 1 << 20

  /// Time to wait for an inspection of the closed bank, and for a coordinator that still answers.
  private static let patience = TimeSpan.seconds(5)

  /// Takes the lock of the home, and creates the socket and the log of the guardian. With
  /// `inherited`, joins the lock that an already running coordinator shares.
  func acquire(_ inherited: consuming FileDescriptor?) -> Outcome {
    do throws(SystemError) {
      try createDirectories()
      let outcome: LockFile.Outcome
      if let inherited = consume inherited {
        // Do not become the recorded holder: a refused client should see the coordinator's process id, not the
        // guardian's.
        outcome = try LockFile.join(inherited, path: lock, isHolder: false)
      } else {
        outcome = try lockUnservedHome()
      }
      switch consume outcome {
      case .heldBy(let pid): return .occupied(pid: pid)
      case .underInspection: return .inspected
      case .acquired(let lock):
        let socket = try Datagrams.bind(path: self.socket)
        let log = try LogFile(path: log, worker: "guardian", generation: 1, limit: Self.logLimit, keep: 2)
        guard let fileID = try fileID() else { throw SystemError(call: "stat", subject: path, code: ENOENT) }
        return .taken(GuardianResources(lock: lock, socket: socket, log: log, fileID: fileID))
      }
    } catch { return .unusable(reason: error.description) }
  }

  /// Takes the lock of a home that no coordinator serves.
  ///
  /// If the lock file was removed while the bank was open, this call creates another one, which no process holds.
  /// Without the check of the control socket, this guardian would replace the sockets of the open bank. If a
  /// coordinator answers, the call waits for it to take the new lock or to exit.
  private func lockUnservedHome() throws(SystemError) -> LockFile.Outcome {
    let deadline = SystemClock.monotonic() + Self.patience
    while true {
      switch try LockFile.acquire(path: lock, patience: Self.patience) {
      case .heldBy(let pid): return .heldBy(pid: pid)
      case .underInspection: return .underInspection
      case .acquired(let lock):
        guard case .connected(let server) = try UnixSocket.connect(path: controlSocket, nonBlocking: true)
        else { return .acquired(lock) }
        lock.release()
        if SystemClock.monotonic() >= deadline { return .heldBy(pid: try UnixSocket.peer(of: server).pid) }
      }
      _ = poll(nil, 0, 20)
    }
  }

  /// Restores removed files before the next coordinator is started. The previous one may have taken a new lock file,
  /// which is free since its exit. Returns true if there is a new socket to watch. Throws if a file cannot be
  /// created, or if another process holds the lock.
  func repair(_ equipment: GuardianResources) throws(SystemError) -> Bool {
    if !equipment.lock.isAt(path: lock) {
      guard case .acquired(let fresh) = try LockFile.acquire(path: lock, patience: Self.patience) else {
        throw SystemError(call: "flock", subject: lock, code: EWOULDBLOCK)
      }
      equipment.lock = fresh
    }
    try Directory.create(path: Paths.directory(of: log), recursive: false)
    return try renewSocket(equipment)
  }

  /// Binds the socket again if it was removed. Returns true if there is a new socket to watch.
  func renewSocket(_ equipment: GuardianResources) throws(SystemError) -> Bool {
    guard Datagrams.hasReceiver(at: socket) == false else { return false }
    try Directory.create(path: Paths.directory(of: socket), recursive: false)
    equipment.socket = try Datagrams.bind(path: socket)
    return true
  }

  /// Starts to watch for the removal of the guardian's socket and log.
  func watch(on loop: EventLoop) throws(SystemError) -> FileIdentityWatcher {
    let directories = [path, Paths.directory(of: socket), Paths.directory(of: log)]
    let watch = try FileIdentityWatcher(in: directories, on: loop)
    watch.expect([socket])
    // Log rotation renames this file.
    watch.expect([log], .any)
    try watch.remember()
    return watch
  }

  /// True if the file for standard error can be opened.
  var canOpenStandardError: Bool {
    (try? FileDescriptor.open(standardError, [.writeOnly, .create, .append], mode: 0o600)) != nil
  }

  /// True if the home was removed or moved away, even if another directory has its name now. A home that
  /// cannot be examined counts as present.
  func isGone(_ equipment: GuardianResources) -> Bool {
    do throws(SystemError) { return try fileID() != equipment.fileID } catch { return false }
  }

  /// Identity of the directory that has the name of the home; nil if there is none.
  private func fileID() throws(SystemError) -> FileID? {
    try FileMetadata.inspect(path).map { FileID(device: $0.device, inode: $0.inode) }
  }

  /// Creates the home and its directories, and refuses a home of another user.
  private func createDirectories() throws(SystemError) {
    try Directory.create(path: path)
    if let facts = try FileMetadata.inspect(path), facts.owner != CurrentProcess.uid {
      throw SystemError(call: "open", subject: path, code: EPERM)
    }
    try Directory.create(path: Paths.join(path, "run"))
    try Directory.create(path: Paths.join(path, "logs"))
  }
}
