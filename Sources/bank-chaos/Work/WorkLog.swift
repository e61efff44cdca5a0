// Records that commands and workers of a chaos run write into a file unknown to the bank. There is a line at the start
// of each attempt and at the end of each that has done its work. If another attempt for the same key was still running,
// there is one line about that instead.
// Invariant: a line is a single append, so a kill leaves no half of one. The lock of a command's key is held while
// any process of the attempt runs, because the processes inherit it.
// Errors: a process that cannot write a line does not report success.
import BankModel
import Posix
import Time

/// One line of the work log: an event of an attempt, with its key, ticket and process.
struct WorkLogEntry: Sendable, Equatable {
  /// Event of an attempt that a line records: its start, its end, or that another attempt was still running.
  enum Phase: String, Sendable {
    case begin, end
    /// A process of another attempt was still running, so the attempt stops here.
    case overlap
  }

  var phase: Phase
  var mode: WorkMode
  var key: String
  var ticket: ChaosTicket
  var attempt: Int32
  var pid: Int32
  /// Digest of the received payload.
  var digest: UInt64
  /// Milliseconds since 1970.
  var at: Int64

  /// The line with its line break.
  var text: String {
    let numbers = "\(ticket.day) \(ticket.number) \(attempt) \(pid) \(String(digest, radix: 16)) \(at)"
    return "\(phase.rawValue) \(mode.rawValue) \(key) \(numbers)\n"
  }

  init(
    _ phase: Phase, _ mode: WorkMode, key: String, ticket: ChaosTicket, attempt: Int32, pid: Int32,
    digest: UInt64, at: Int64
  ) {
    (self.phase, self.mode, self.key, self.ticket) = (phase, mode, key, ticket)
    (self.attempt, self.pid, self.digest, self.at) = (attempt, pid, digest, at)
  }

  /// Parses a line; nil if it is not valid.
  init?(_ text: some StringProtocol) {
    let words = text.split(separator: " ")
    guard words.count == 9, let phase = Phase(rawValue: String(words[0])),
      let mode = WorkMode(rawValue: String(words[1])), let day = BusinessDay(words[3]),
      let number = TicketNumber(words[4]), let attempt = Int32(words[5]), let pid = Int32(words[6]),
      let digest = UInt64(words[7], radix: 16), let at = Int64(words[8])
    else { return nil }
    self.init(
      phase, mode, key: String(words[2]), ticket: ChaosTicket(day: day, number: number), attempt: attempt,
      pid: pid, digest: digest, at: at)
  }
}

/// The work log of a chaos run: the file in which commands and workers record their attempts, and the locks of their
/// keys.
struct WorkLog: Sendable {
  let directory: String
  private var file: String { Paths.join(directory, "lines") }

  init(_ directory: String) { self.directory = directory }

  /// Creates the directory and the empty file.
  func create() throws(SystemError) {
    try Directory.create(path: directory)
    try FileDescriptor.open(file, [.writeOnly, .create, .append]).close()
  }

  /// Appends a line to the file. Returns true if it was written completely.
  func write(_ line: WorkLogEntry) -> Bool {
    guard let file = try? FileDescriptor.open(file, [.writeOnly, .append]) else { return false }
    let bytes = Array(line.text.utf8)
    return (try? file.write(bytes)) == .bytes(bytes.count)
  }

  /// Locks a key; nil if a process of another attempt still holds the lock when the timeout has run out.
  ///
  /// - Parameter timeout: time that a process being killed may take.
  func lock(_ key: String, within timeout: TimeSpan = .zero) throws(SystemError) -> KeyLock? {
    let deadline = SystemClock.monotonic() + timeout
    while true {
      switch try LockFile.acquire(path: Paths.join(directory, "key-\(key)")) {
      case .acquired(let lock): return KeyLock(lock)
      case .heldBy: break
      case .underInspection: break
      }
      guard SystemClock.monotonic() < deadline else { return nil }
      WorkMode.pause(1)
    }
  }

  /// All lines, and the number of lines that cannot be parsed.
  func read() throws(SystemError) -> (lines: [WorkLogEntry], unreadable: Int) {
    let bytes = try FileDescriptor.open(file, .readOnly).readAll(limit: 1 << 30)
    let texts = String(decoding: bytes, as: UTF8.self).split(separator: "\n")
    let lines = texts.compactMap { WorkLogEntry($0) }
    return (lines, texts.count - lines.count)
  }
}

/// The lock of a key, held while this object exists.
final class KeyLock {
  private let lock: LockFile
  fileprivate init(_ lock: consuming LockFile) { self.lock = lock }

  /// Returns a descriptor of the lock for a child process, which then holds the lock, too.
  func share() throws(SystemError) -> FileDescriptor { try lock.share() }
}

/// One attempt at one customer, as seen by the process that serves it.
struct WorkAttempt {
  let workLog: WorkLog
  let mode: WorkMode
  let key: String
  let ticket: ChaosTicket
  let number: Int32
  let payload: [UInt8]

  /// Appends a line about this attempt. Returns false if that fails.
  func note(_ phase: WorkLogEntry.Phase) -> Bool {
    workLog.write(
      WorkLogEntry(
        phase, mode, key: key, ticket: ticket, attempt: number, pid: CurrentProcess.pid,
        digest: WorkerBehaviour.digest(payload), at: SystemClock.wall().milliseconds))
  }
}
