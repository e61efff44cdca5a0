// Checks of an audit outside of the database: missing files of `HomeFileTable`, permissions of the home, and processes
// of the home.

import BankModel
import Glibc
import Posix
import Time
import Wire

struct HomeAudit {
  let home: BankHome

  /// Pause before an unknown process is checked again.
  static let nextCheck = TimeSpan.milliseconds(200)
  /// Number of checks after which a process that remains is reported. An exiting process may need a while on a busy
  /// machine.
  private static let checks = 15
  /// Largest number of checks if a process may be exiting or opening a bank.
  private static let maxChecks = 150

  /// Process of the home that its coordinator does not know.
  struct UnknownProcess: Hashable {
    var pid: Int32
    var name: String
    /// Identifies the process together with its id, because ids are reused.
    var startedAt: UInt64

    /// True if the process may be a guardian or coordinator that waits for the lock of the home, or is about to report
    /// that it cannot get the lock.
    var mayBeOpening: Bool {
      ["bankd", "bank-guardian"].contains(name) && (ProcessTable.age(of: pid) ?? .zero) < HomeAudit.opening
    }

    /// True if the process is running or waiting for a disk: it may be exiting.
    fileprivate var isAtWork: Bool {
      guard let state = ProcessTable.activity(of: pid)?.state else { return false }
      return state == .running || state == .waitingForDisk
    }
  }

  /// Age up to which a coordinator or guardian may still be waiting for the lock of a bank that is being inspected.
  private static let opening = TimeSpan.seconds(12)

  /// True if processes that remain after this many checks are to be reported.
  static func arePersistent(_ unknownProcesses: Set<UnknownProcess>, after checks: Int) -> Bool {
    checks >= maxChecks
      || checks >= Self.checks && !unknownProcesses.contains { $0.mayBeOpening || $0.isAtWork }
  }

  /// Programs checked for unknown processes, by process name.
  private static let programs = [
    "bankd", "bank-guardian", "bank-teller", "bank-juice", "bank-runner", "bank-stockd", "bank-vending",
  ]

  /// Processes of this home that are not among the known ones.
  func unknownProcesses(known: Set<Int32>) -> Set<UnknownProcess> {
    guard let facts = try? FileMetadata.inspect(home.path) else { return [] }
    var found: Set<UnknownProcess> = []
    for pid in ProcessTable.all() where !known.contains(pid) {
      guard let name = ProcessTable.name(of: pid), Self.programs.contains(name), ProcessTable.alive(pid),
        ProcessTable.arguments(of: pid).contains(where: { names($0, facts) }),
        let startedAt = ProcessTable.startTime(pid)
      else { continue }
      found.insert(UnknownProcess(pid: pid, name: name, startedAt: startedAt))
    }
    return found
  }

  /// True if an argument of a process is the path of this home, or another path to the same directory. `facts` are the
  /// metadata of the home.
  private func names(_ word: String, _ facts: FileMetadata) -> Bool {
    let path = word.hasPrefix("--home=") ? String(word.dropFirst("--home=".count)) : word
    if path == home.path { return true }
    guard path.hasPrefix("/"), let other = try? FileMetadata.inspect(path) else { return false }
    return other.isDirectory && other.inode == facts.inode && other.device == facts.device
  }

  /// Findings about unknown processes.
  static func messageDetails(on unknownProcesses: Set<UnknownProcess>) -> [MessageDetail] {
    unknownProcesses.sorted { $0.pid < $1.pid }.map { MessageDetail(.unknownProcess, $0.pid, $0.name) }
  }

  /// Files of `HomeFileTable` that are missing although their owners are running.
  func missing(of owners: Set<HomeFile.Owner>) -> Set<HomeFile> {
    Set(
      HomeFileTable.entries.filter { entry in
        guard entry.isPermanent, owners.contains(entry.owner) else { return false }
        // A file that cannot be examined is reported by `permissions()`.
        do throws(SystemError) {
          return try FileMetadata.inspect(Paths.join(home.path, entry.path)) == nil
        } catch {
          return false
        }
      })
  }

  static func messageDetails(on missing: Set<HomeFile>) -> [MessageDetail] {
    missing.sorted { $0.path < $1.path }.map { MessageDetail(.homeFileMissing, $0.path, $0.owner.rawValue) }
  }

  /// Findings about files that belong to other users or that other users could enter, read or write, and about files
  /// that cannot be examined.
  func permissions() -> [MessageDetail] {
    var found: [MessageDetail] = []
    let shared = sharedWithCustomers
    if let problem = problem(home.path, isHome: true, shared) { found.append(problem) }
    var paths = HomeFileTable.entries.map { Paths.join(home.path, $0.path) }
    for name in ["bank.db", "stock.db", "vending.db"] {
      for suffix in ["-shm", "-journal"] { paths.append(Paths.join(home.path, name) + suffix) }
    }
    for directory in [home.run, home.logs] {
      for name in ((try? Directory.entries(of: directory)) ?? []).sorted() {
        let path = Paths.join(directory, name)
        if !paths.contains(path) { paths.append(path) }
      }
    }
    return found + paths.compactMap { problem($0, isHome: false, shared) }
  }

  /// Permissions granted on purpose to the Unix group whose users may use the vending machine, by path: for the
  /// socket of the machine, if it is open to a group, and for the directories above it.
  private var sharedWithCustomers: [String: UInt32] {
    let socket = Paths.join(home.run, "vending.sock")
    guard let facts = try? FileMetadata.inspect(socket, followLinks: false), facts.mode & 0o060 == 0o060
    else {
      return [:]
    }
    return [home.path: 0o010, home.run: 0o010, socket: 0o060]
  }

  /// Finding about the owner and the permissions of one file; nil if there is none.
  private func problem(_ path: String, isHome: Bool, _ shared: [String: UInt32]) -> MessageDetail? {
    let facts: FileMetadata
    do throws(SystemError) {
      // The mode of a symbolic link grants nothing: its target is checked.
      guard let found = try FileMetadata.inspect(path) else { return nil }
      facts = found
    } catch { return MessageDetail(.cannotInspect, path, error.description) }
    let mode = String(facts.mode & 0o7777, radix: 8)
    if facts.owner != CurrentProcess.uid { return MessageDetail(.otherOwner, path, facts.owner) }
    // A shared directory such as /tmp was not made for a bank; the permissions of its contents protect them.
    if isHome, facts.mode & 0o1000 != 0 { return nil }
    let wanted = facts.isDirectory ? "700" : "600"
    return UInt32(facts.mode) & 0o077 & ~(shared[path] ?? 0) == 0
      ? nil : MessageDetail(.modeTooPermissive, path, mode, wanted)
  }
}

extension AuditReport {
  mutating func add(_ problems: [MessageDetail]) { for problem in problems { add(problem) } }
}

extension HomeFile.Owner {
  /// Owner of the files of the service with this name; nil if the name is unknown.
  init?(serviceNamed name: String) {
    switch name {
    case "stock": self = .stock
    case "vending": self = .vending
    case "web": self = .page
    default: return nil
    }
  }
}
