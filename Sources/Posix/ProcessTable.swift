// Data of /proc about processes, such as whether one runs, its start time, its children, and its memory.
// Invariant: a zombie is not alive. A pid together with its start time identifies one process, although pids
// are reused.
// Errors: nil, false or an empty list. The data may be outdated as soon as it was read.
import ByteText
import Glibc
import Time

/// The process table of the machine. `proc(5)`
public enum ProcessTable {
  /// True if the process exists and has not exited.
  public static func alive(_ pid: pid_t) -> Bool {
    if let kernel = Kernel.simulated { return kernel.activity(of: pid).map { $0.state != .ended } ?? false }
    guard let statFields = statFields(of: pid) else { return false }
    return statFields.state != UInt8(ascii: "Z") && statFields.state != UInt8(ascii: "X")
  }

  /// State of a process. `proc_pid_stat(5)`
  public struct Activity: Sendable, Equatable {
    /// In this order: running or ready to run; asleep until an event; waiting for a disk; stopped by a signal;
    /// stopped by a debugger; exited.
    public enum State: Sendable { case running, sleeping, waitingForDisk, stopped, traced, ended }

    /// Current state.
    public var state: State
    /// Total processor time, in clock ticks.
    public var processorTicks: UInt64
    /// True if the process has a controlling terminal, at which a user may have stopped the process.
    public var hasTerminal: Bool

    public init(state: State, processorTicks: UInt64, hasTerminal: Bool) {
      (self.state, self.processorTicks, self.hasTerminal) = (state, processorTicks, hasTerminal)
    }
  }

  /// State of a process; nil if there is no such process. Fields 3, 7, 14 and 15 of /proc/PID/stat
  public static func activity(of pid: pid_t) -> Activity? {
    if let kernel = Kernel.simulated { return kernel.activity(of: pid) }
    return statFields(of: pid)?.activity
  }

  /// Start time in clock ticks (1/100 s) since boot; nil if there is no such process. Field 22 of
  /// /proc/PID/stat
  public static func startTime(_ pid: pid_t) -> UInt64? { statFields(of: pid)?.startTime }

  /// All visible processes, including zombies, in no particular order.
  public static func all() -> [pid_t] {
    Kernel.simulated?.processes ?? ((try? Directory.entries(of: "/proc")) ?? []).compactMap { pid_t($0) }
  }

  /// Ids of all processes. The newest are first, as far as the numbers show it: after the highest number the
  /// kernel continues with the lowest free one.
  public static func newestFirst() -> [pid_t] {
    let last = lastNumber ?? pid_t.max
    let pids = all()
    let (newer, older) = (pids.filter { $0 <= last }, pids.filter { $0 > last })
    return newer.sorted(by: >) + older.sorted(by: >)
  }

  /// The `count` numbers up to the one that the kernel has assigned last, in descending order. They include those
  /// of threads and of exited processes. If the last number is unknown, the result is that of ``newestFirst()``.
  public static func latest(_ count: Int) -> [pid_t] {
    guard let last = lastNumber else { return newestFirst() }
    return (0..<pid_t(clamping: count)).map { last - $0 }.filter { $0 > 0 }
  }

  /// The number that the kernel assigned last: the last field of /proc/loadavg. `proc_loadavg(5)`
  private static var lastNumber: pid_t? {
    guard Kernel.simulated == nil,
      let line = text(of: "/proc/loadavg", limit: 256)?.split(separator: "\n").first
    else { return nil }
    return line.split(separator: " ").last.flatMap { pid_t($0) }
  }

  /// The command line of a process, starting with the program's name; empty for a zombie, if it is too long, and if
  /// there is no such process. /proc/PID/cmdline
  public static func arguments(of pid: pid_t) -> [String] {
    guard let file = try? FileDescriptor.open("/proc/\(pid)/cmdline", .readOnly),
      let bytes = try? file.readAll(limit: 1 << 20)
    else { return [] }
    // A zero byte terminates each argument, so the last part is empty.
    return bytes.split(separator: 0, omittingEmptySubsequences: false).dropLast().map {
      ByteText.text(of: $0)
    }
  }

  /// Process id of the parent; nil if there is no such process.
  public static func parent(of pid: pid_t) -> pid_t? {
    if let kernel = Kernel.simulated { return kernel.parent(of: pid) }
    return statFields(of: pid)?.parent
  }

  /// Identifying data of one process, from one read of /proc/PID/stat.
  public struct ParentInfo: Sendable, Equatable {
    /// Process id of the parent.
    public var parent: pid_t
    /// Start time in clock ticks since boot; 0 on a simulated machine.
    public var startTime: UInt64
    /// False for a zombie.
    public var isAlive: Bool
  }

  /// Parent and start time of a process; nil if there is no such process.
  public static func parentInfo(of pid: pid_t) -> ParentInfo? {
    if let kernel = Kernel.simulated {
      guard let activity = kernel.activity(of: pid), let parent = kernel.parent(of: pid) else { return nil }
      return ParentInfo(parent: parent, startTime: 0, isAlive: activity.state != .ended)
    }
    return statFields(of: pid).map {
      ParentInfo(parent: $0.parent, startTime: $0.startTime, isAlive: $0.activity.state != .ended)
    }
  }

  /// Children of a process, including zombies. /proc/PID/task/*/children, `proc_tid_children(5)`
  public static func descendants(directlyBelow pid: pid_t) -> [pid_t] {
    if Kernel.simulated != nil { return children(of: pid) }
    var found: [pid_t] = []
    for task in (try? Directory.entries(of: "/proc/\(pid)/task")) ?? [] {
      guard let text = text(of: "/proc/\(pid)/task/\(task)/children", limit: 32 << 20) else {
        // The thread has exited meanwhile, or the kernel was built without these files.
        return children(of: pid)
      }
      found += text.split(separator: " ").compactMap { pid_t($0) }
    }
    return found
  }

  /// Children of a process, including zombies, in ascending order. Reads all of /proc.
  public static func children(of pid: pid_t) -> [pid_t] {
    all().filter { parent(of: $0) == pid }.sorted()
  }

  /// Age of a process, to a hundredth of a second; nil if there is no such process. It includes time in which
  /// the machine was suspended, because the start time counts by `CLOCK_BOOTTIME`. `proc_pid_stat(5)`
  public static func age(of pid: pid_t) -> TimeSpan? {
    guard let started = startTime(pid) else { return nil }
    let ticks = Int64(max(1, sysconf(CInt(_SC_CLK_TCK))))
    var now = timespec()
    clock_gettime(CLOCK_BOOTTIME, &now)
    let (seconds, rest) = Int64(clamping: started).quotientAndRemainder(dividingBy: ticks)
    let start = TimeSpan.seconds(seconds) + .milliseconds(rest * 1_000 / ticks)
    return .seconds(Int64(now.tv_sec)) + .nanoseconds(Int64(now.tv_nsec)) - start
  }

  /// Short name of a process, at most 15 bytes; nil if there is no such process. /proc/PID/comm
  public static func name(of pid: pid_t) -> String? {
    // Simulated processes have no names.
    guard Kernel.simulated == nil else { return nil }
    guard let text = text(of: "/proc/\(pid)/comm", limit: 256) else { return nil }
    return text.hasSuffix("\n") ? String(text.dropLast()) : text
  }

  /// Fields of /proc/PID/stat.
  private struct StatFields {
    var state: UInt8
    var parent: pid_t
    var startTime: UInt64
    var activity: Activity
  }

  /// State of a process, from its letter in /proc/PID/stat.
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

  /// Reads /proc/PID/stat; nil if there is no such process.
  private static func statFields(of pid: pid_t) -> StatFields? {
    guard let text = text(of: "/proc/\(pid)/stat", limit: 4096) else { return nil }
    // The name is in parentheses and may contain any character, so fields are counted from the last
    // parenthesis.
    guard let end = text.lastIndex(of: ")") else { return nil }
    let fields = text[text.index(after: end)...].split(separator: " ")
    guard fields.count > 19, let state = fields[0].utf8.first, let parent = pid_t(fields[1]),
      let startTime = UInt64(fields[19])
    else { return nil }
    let ticks = (UInt64(fields[11]) ?? 0) &+ (UInt64(fields[12]) ?? 0)
    return StatFields(
      state: state, parent: parent, startTime: startTime,
      activity: Activity(state: Self.state(state), processorTicks: ticks, hasTerminal: fields[4] != "0"))
  }

  /// Contents of a file; nil if it cannot be read or has more than `limit` bytes.
  static func text(of path: String, limit: Int) -> String? {
    guard let file = try? FileDescriptor.open(path, .readOnly) else { return nil }
    guard let bytes = try? file.readAll(limit: limit) else { return nil }
    return String(decoding: bytes, as: UTF8.self)
  }
}

/// The memory of a process. `proc(5)`
public enum ProcessMemory {
  /// Resident memory in bytes, with shared pages counted in full; nil if there is no such process.
  /// /proc/PID/statm
  public static func residentBytes(pid: pid_t) -> Int64? {
    guard let text = ProcessTable.text(of: "/proc/\(pid)/statm", limit: 256) else { return nil }
    let fields = text.split(separator: " ")
    guard fields.count > 1, let pages = Int64(fields[1]) else { return nil }
    return pages * Int64(sysconf(CInt(_SC_PAGESIZE)))
  }

  /// Proportional memory in bytes: a page shared by n processes counts as 1/n. Nil if there is no such process,
  /// or if it belongs to another user.
  ///
  /// The kernel walks all pages of the process, so use it for a report and not in a loop.
  /// /proc/PID/smaps_rollup
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
