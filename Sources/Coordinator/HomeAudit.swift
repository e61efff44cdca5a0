// Owns what an audit looks at outside of the database: which names of the home's table are there, who may enter the home, and
// who works in its name. It changes nothing and knows no queue. What cannot be looked at is a finding: nobody can promise
// anything of it.

import BankModel
import Glibc
import Posix
import Time

struct HomeAudit {
  let home: BankHome

  /// After how long it is looked again for a process that nobody knows, and how often: one that is just ending may need
  /// a while on a busy machine, and whoever is still there afterwards is reported.
  static let nextLook = TimeSpan.milliseconds(200)
  private static let looks = 15
  /// How often it is looked at most where somebody may be on the way to an end, or to a bank.
  private static let longestLooks = 150

  struct Stranger: Hashable {
    var pid: Int32
    var name: String
    /// Together with the number it is one process, although numbers are used again.
    var startedAt: UInt64

    /// Whether it may be a guardian or a coordinator that waits for the lock of the home, or is about to say that it cannot
    /// have it. They wait for 5 seconds, and on a busy machine longer.
    var mayBeOpening: Bool {
      ["bankd", "bank-guardian"].contains(name) && (ProcessTable.age(of: pid) ?? .zero) < HomeAudit.opening
    }

    /// Whether it has something to do, and only waits for a processor or a disk: it may be ending.
    fileprivate var isAtWork: Bool {
      guard let state = ProcessTable.activity(of: pid)?.state else { return false }
      return state == .running || state == .waitingForDisk
    }
  }

  /// How long it may take somebody to open a bank that is being looked into.
  private static let opening = TimeSpan.seconds(12)

  /// Whether those who are still there after so many looks are there to stay.
  static func areToStay(_ strangers: Set<Stranger>, after looks: Int) -> Bool {
    looks >= longestLooks || looks >= Self.looks && !strangers.contains { $0.mayBeOpening || $0.isAtWork }
  }

  /// The programs of a bank, by the names that the kernel keeps of them.
  private static let programs = [
    "bankd", "bank-guardian", "bank-teller", "bank-juice", "bank-runner", "bank-stockd", "bank-vending",
  ]

  /// The processes of this bank that are not among the known ones.
  func strangers(known: Set<Int32>) -> Set<Stranger> {
    guard let facts = try? FileFacts.inspect(home.path) else { return [] }
    var found: Set<Stranger> = []
    for pid in ProcessTable.all() where !known.contains(pid) {
      guard let name = ProcessTable.name(of: pid), Self.programs.contains(name), ProcessTable.alive(pid),
        ProcessTable.arguments(of: pid).contains(where: { names($0, facts) }),
        let startedAt = ProcessTable.startTime(pid)
      else { continue }
      found.insert(Stranger(pid: pid, name: name, startedAt: startedAt))
    }
    return found
  }

  /// Whether a word of a command line is this home, by whatever path.
  private func names(_ word: String, _ facts: FileFacts) -> Bool {
    let path = word.hasPrefix("--home=") ? String(word.dropFirst("--home=".count)) : word
    if path == home.path { return true }
    guard path.hasPrefix("/"), let other = try? FileFacts.inspect(path) else { return false }
    return other.isDirectory && other.inode == facts.inode && other.device == facts.device
  }

  /// What there is to say of strangers.
  static func remarks(on strangers: Set<Stranger>) -> [Remark] {
    strangers.sorted { $0.pid < $1.pid }.map { Remark(.stranger, $0.pid, $0.name) }
  }

  /// Names of the table that are missing although their owners are at work.
  func missing(of owners: Set<HomeEntry.Owner>) -> Set<HomeEntry> {
    Set(
      HomeTable.entries.filter { entry in
        guard entry.isAlwaysThere, owners.contains(entry.owner) else { return false }
        // What cannot be looked at is found with the permissions.
        do throws(SystemError) {
          return try FileFacts.inspect(Paths.join(home.path, entry.path)) == nil
        } catch {
          return false
        }
      })
  }

  /// What there is to say of missing names.
  static func remarks(on missing: Set<HomeEntry>) -> [Remark] {
    missing.sorted { $0.path < $1.path }.map { Remark(.missingInHome, $0.path, $0.owner.rawValue) }
  }

  /// Everything that others could enter, read or write.
  func permissions() -> [Remark] {
    var found: [Remark] = []
    let shared = sharedWithCustomers
    if let problem = problem(home.path, isHome: true, shared) { found.append(problem) }
    var paths = HomeTable.entries.map { Paths.join(home.path, $0.path) }
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

  /// What a group of customers may pass or use, with the bits that it needs: the socket of the vending machine, where it
  /// was opened to one, and the way to it.
  private var sharedWithCustomers: [String: UInt32] {
    let socket = Paths.join(home.run, "vending.sock")
    guard let facts = try? FileFacts.inspect(socket, followLinks: false), facts.mode & 0o060 == 0o060 else {
      return [:]
    }
    return [home.path: 0o010, home.run: 0o010, socket: 0o060]
  }

  private func problem(_ path: String, isHome: Bool, _ shared: [String: UInt32]) -> Remark? {
    let facts: FileFacts
    do throws(SystemError) {
      // A symbolic link lets nobody in by itself, whatever its mode says: what it leads to is judged.
      guard let found = try FileFacts.inspect(path) else { return nil }
      facts = found
    } catch { return Remark(.cannotLook, path, error.description) }
    let mode = String(facts.mode & 0o7777, radix: 8)
    if facts.owner != CurrentProcess.uid { return Remark(.otherOwner, path, facts.owner) }
    // A directory that everybody shares, such as /tmp, was not made for a bank; what is in it keeps others out.
    if isHome, facts.mode & 0o1000 != 0 { return nil }
    let wanted = facts.isDirectory ? "700" : "600"
    return UInt32(facts.mode) & 0o077 & ~(shared[path] ?? 0) == 0
      ? nil : Remark(.openToOthers, path, mode, wanted)
  }
}
