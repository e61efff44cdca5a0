// Owns what /proc says about processes: whether one lives, since when, and whose children are there.
// Invariant: a zombie is not alive. A pid together with its start time names one process, although pids are
// used again.
// Failure: nil, false or an empty list; whatever is read here may have changed by the time it is looked at.
import ByteText
import Glibc
import Time

/// The processes of the machine. `proc(5)`
public enum ProcessTable {
  /// Whether the process exists and has not ended.
  public static func alive(_ pid: pid_t) -> Bool {
    if let kernel = Kernel.simulated { return kernel.activity(of: pid).map { $0.state != .ended } ?? false }
    guard let facts = facts(of: pid) else { return false }
    return facts.state != UInt8(ascii: "Z") && facts.state != UInt8(ascii: "X")
  }

  /// What a process is doing, as far as the kernel tells. proc_pid_stat(5)
  public struct Activity: Sendable, Equatable {
    /// Running, or ready to; asleep until something happens; waiting for a disk; stopped by a signal; held by a debugger.
    public enum State: Sendable { case running, sleeping, waitingForDisk, stopped, traced, ended }

    /// What it does now.
    public var state: State
    /// The time for which it has had a processor, in clock ticks.
    public var processorTicks: UInt64
    /// Whether it belongs to somebody's terminal, who may have stopped it by hand.
    public var hasTerminal: Bool

    public init(state: State, processorTicks: UInt64, hasTerminal: Bool) {
      (self.state, self.processorTicks, self.hasTerminal) = (state, processorTicks, hasTerminal)
    }
  }

  /// What a process is doing; nil where there is none. Fields 3, 7, 14 and 15 of /proc/PID/stat
  public static func activity(of pid: pid_t) -> Activity? {
    if let kernel = Kernel.simulated { return kernel.activity(of: pid) }
    return facts(of: pid)?.activity
  }

  /// When the process started, in clock ticks (1/100 s) since boot, or nil. Field 22 of /proc/PID/stat
  public static func startTime(_ pid: pid_t) -> UInt64? { facts(of: pid)?.startTime }

  /// All processes that can be seen, zombies among them, in no order.
  public static func all() -> [pid_t] {
    Kernel.simulated?.processes ?? ((try? Directory.entries(of: "/proc")) ?? []).compactMap { pid_t($0) }
  }

  /// The same, those that have started last first, as far as their numbers tell: numbers are used again from the lowest.
  public static func newestFirst() -> [pid_t] {
    let last = lastNumber ?? pid_t.max
    let pids = all()
    let (newer, older) = (pids.filter { $0 <= last }, pids.filter { $0 > last })
    return newer.sorted(by: >) + older.sorted(by: >)
  }

  /// The numbers that were given last, the last one first, to threads, too, and to processes that have ended. It is known sooner
  /// than ``all()``.
  public static func latest(_ count: Int) -> [pid_t] {
    guard let last = lastNumber else { return newestFirst() }
    return (0..<pid_t(clamping: count)).map { last - $0 }.filter { $0 > 0 }
  }

  /// The last word of /proc/loadavg, `proc_loadavg(5)`
  private static var lastNumber: pid_t? {
    guard Kernel.simulated == nil,
      let line = text(of: "/proc/loadavg", limit: 256)?.split(separator: "\n").first
    else { return nil }
    return line.split(separator: " ").last.flatMap { pid_t($0) }
  }

  /// The words of a process's command line, its own name first; empty for a zombie, and where there is none.
  /// /proc/PID/cmdline
  public static func arguments(of pid: pid_t) -> [String] {
    guard let file = try? FileDescriptor.open("/proc/\(pid)/cmdline", .readOnly),
      let bytes = try? file.readAll(limit: 1 << 20)
    else { return [] }
    // Each word is ended, not parted, by a zero byte.
    return bytes.split(separator: 0, omittingEmptySubsequences: false).dropLast().map {
      ByteText.text(of: $0)
    }
  }

  /// The parent's pid; nil where there is no such process.
  public static func parent(of pid: pid_t) -> pid_t? {
    if let kernel = Kernel.simulated { return kernel.parent(of: pid) }
    return facts(of: pid)?.parent
  }

  /// What tells one process from others, read in one moment.
  public struct Kinship: Sendable, Equatable {
    /// The parent's pid.
    public var parent: pid_t
    /// When it started, in clock ticks since boot; 0 on a simulated machine.
    public var startTime: UInt64
    /// False for one that has ended and was not collected.
    public var isAlive: Bool
  }

  /// Whose child a process is, and since when it is there; nil where there is none.
  public static func kinship(of pid: pid_t) -> Kinship? {
    if let kernel = Kernel.simulated {
      guard let activity = kernel.activity(of: pid), let parent = kernel.parent(of: pid) else { return nil }
      return Kinship(parent: parent, startTime: 0, isAlive: activity.state != .ended)
    }
    return facts(of: pid).map {
      Kinship(parent: $0.parent, startTime: $0.startTime, isAlive: $0.activity.state != .ended)
    }
  }

  /// The children of a process, zombies among them. /proc/PID/task/*/children, `proc_tid_children(5)`
  public static func descendants(directlyBelow pid: pid_t) -> [pid_t] {
    if Kernel.simulated != nil { return children(of: pid) }
    var found: [pid_t] = []
    for task in (try? Directory.entries(of: "/proc/\(pid)/task")) ?? [] {
      guard let text = text(of: "/proc/\(pid)/task/\(task)/children", limit: 32 << 20) else {
        // The thread has ended meanwhile, or the kernel was built without these files.
        return children(of: pid)
      }
      found += text.split(separator: " ").compactMap { pid_t($0) }
    }
    return found
  }

  /// The children of a process, zombies among them, in ascending order. Reads all of /proc.
  public static func children(of pid: pid_t) -> [pid_t] {
    all().filter { parent(of: $0) == pid }.sorted()
  }

  /// For how long a process has been there, to a hundredth of a second; nil where there is none. proc_pid_stat(5)
  /// counts from the boot, with the time that the machine slept: `CLOCK_BOOTTIME`.
  public static func age(of pid: pid_t) -> TimeSpan? {
    guard let started = startTime(pid) else { return nil }
    let ticks = Int64(max(1, sysconf(CInt(_SC_CLK_TCK))))
    var now = timespec()
    clock_gettime(CLOCK_BOOTTIME, &now)
    let (seconds, rest) = Int64(clamping: started).quotientAndRemainder(dividingBy: ticks)
    let start = TimeSpan.seconds(seconds) + .milliseconds(rest * 1_000 / ticks)
    return .seconds(Int64(now.tv_sec)) + .nanoseconds(Int64(now.tv_nsec)) - start
  }

  /// The short name of a process (15 bytes at most); nil where there is none. /proc/PID/comm
  public static func name(of pid: pid_t) -> String? {
    // In a simulated bank nobody works whom nobody has started, and nobody looks for one by the name.
    guard Kernel.simulated == nil else { return nil }
    guard let text = text(of: "/proc/\(pid)/comm", limit: 256) else { return nil }
    return text.hasSuffix("\n") ? String(text.dropLast()) : text
  }

  private struct Facts {
    var state: UInt8
    var parent: pid_t
    var startTime: UInt64
    var activity: Activity
  }

  private static func state(_ letter: UInt8) -> Activity.State {
    switch letter {
    case UInt8(ascii: "R"): .running
    case UInt8(ascii: "D"): .waitingForDisk
    case UInt8(ascii: "T"): .stopped
    case UInt8(ascii: "t"): .traced
    case UInt8(ascii: "Z"), UInt8(ascii: "X"): .ended
    default: .sleeping
    }
  }

  private static func facts(of pid: pid_t) -> Facts? {
    guard let text = text(of: "/proc/\(pid)/stat", limit: 4096) else { return nil }
    // The name stands in parentheses and may hold any character, so fields are counted from the last of them.
    guard let end = text.lastIndex(of: ")") else { return nil }
    let fields = text[text.index(after: end)...].split(separator: " ")
    guard fields.count > 19, let state = fields[0].utf8.first, let parent = pid_t(fields[1]),
      let startTime = UInt64(fields[19])
    else { return nil }
    let ticks = (UInt64(fields[11]) ?? 0) &+ (UInt64(fields[12]) ?? 0)
    return Facts(
      state: state, parent: parent, startTime: startTime,
      activity: Activity(state: Self.state(state), processorTicks: ticks, hasTerminal: fields[4] != "0"))
  }

  static func text(of path: String, limit: Int) -> String? {
    guard let file = try? FileDescriptor.open(path, .readOnly) else { return nil }
    guard let bytes = try? file.readAll(limit: limit) else { return nil }
    return String(decoding: bytes, as: UTF8.self)
  }
}

/// The memory of a process. `proc(5)`
public enum ProcessMemory {
  /// The bytes in RAM, shared pages counted in full; nil where the process is gone. /proc/PID/statm
  public static func residentBytes(pid: pid_t) -> Int64? {
    guard let text = ProcessTable.text(of: "/proc/\(pid)/statm", limit: 256) else { return nil }
    let fields = text.split(separator: " ")
    guard fields.count > 1, let pages = Int64(fields[1]) else { return nil }
    return pages * Int64(sysconf(CInt(_SC_PAGESIZE)))
  }

  /// The bytes in RAM, a page shared by n processes counted as 1/n; nil where it is gone or another user's.
  ///
  /// The kernel walks all pages for it: for a report, not for a loop. /proc/PID/smaps_rollup
  public static func proportionalBytes(pid: pid_t) -> Int64? {
    guard let text = ProcessTable.text(of: "/proc/\(pid)/smaps_rollup", limit: 16 << 10) else { return nil }
    for line in text.split(separator: "\n") where line.hasPrefix("Pss:") {
      let words = line.split(separator: " ", omittingEmptySubsequences: true)
      guard words.count == 3, words[2] == "kB", let kilobytes = Int64(words[1]) else { return nil }
      return kilobytes * 1024
    }
    return nil
  }
}
