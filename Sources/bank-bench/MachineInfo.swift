// Description of the machine for the report: processor, kernel, filesystem, load.
// Invariant: an unavailable processor name, filesystem or load is "unknown".
import Glibc
import Posix
import Time

/// The machine on which a run measures.
struct MachineInfo {
  let cores: Int
  let processor: String
  let kernel: String
  let filesystem: String
  let date: String
  /// Load average of the last minute, over all processors.
  let load: String

  /// Reads the facts about this machine, with the filesystem of the directory `scratch`.
  static func inspect(scratch: String) -> MachineInfo {
    let model = text(of: "/proc/cpuinfo").split(separator: "\n").first { $0.hasPrefix("model name") }
    return MachineInfo(
      cores: sysconf(CInt(_SC_NPROCESSORS_ONLN)),
      processor: model.flatMap { $0.split(separator: ":").last.map { trimmed($0) } } ?? "unknown",
      kernel: trimmed(text(of: "/proc/sys/kernel/ostype")[...]) + " "
        + trimmed(text(of: "/proc/sys/kernel/osrelease")[...]),
      filesystem: filesystem(of: scratch),
      date: String(Timestamp.utc(milliseconds: SystemClock.wall().milliseconds).prefix(10)),
      load: text(of: "/proc/loadavg").split(separator: " ").first.map { String($0) } ?? "unknown")
  }

  /// The kind of filesystem with the longest mount point above a path. `proc(5)` /proc/self/mountinfo
  private static func filesystem(of path: String) -> String {
    var best = (length: 0, kind: "unknown")
    for line in text(of: "/proc/self/mountinfo").split(separator: "\n") {
      let words = line.split(separator: " ")
      guard let dash = words.firstIndex(of: "-"), words.count > dash + 2, words.count > 4 else { continue }
      let point = words[4] == "/" ? "/" : words[4] + "/"
      guard (path + "/").hasPrefix(point), point.count >= best.length else { continue }
      best = (point.count, "\(words[dash + 1]) on \(words[dash + 2])")
    }
    return best.kind
  }

  /// The text of a file of /proc; empty if it cannot be read.
  static func text(of path: String) -> String {
    guard let file = try? FileDescriptor.open(path, .readOnly), let bytes = try? file.readAll() else {
      return ""
    }
    return String(decoding: bytes, as: UTF8.self)
  }

  /// The text with single spaces, and none at its ends.
  private static func trimmed(_ text: Substring) -> String {
    text.split(whereSeparator: \.isWhitespace).joined(separator: " ")
  }

  var lines: [String] {
    var lines = [
      "\(date) · \(cores) cores, \(processor) · \(kernel) · \(filesystem) · load \(load) at the start"
    ]
    if filesystem.hasPrefix("tmpfs") {
      lines.append("This is a tmpfs: figures about durability are meaningless here. Set TMPDIR.")
    }
    return lines
  }

  var json: String {
    NumberFormat.object([
      ("date", NumberFormat.quoted(date)), ("cores", "\(cores)"),
      ("processor", NumberFormat.quoted(processor)),
      ("kernel", NumberFormat.quoted(kernel)), ("filesystem", NumberFormat.quoted(filesystem)),
      ("load", NumberFormat.quoted(load)),
    ])
  }
}

/// Facts from /proc: processor time, voluntary context switches, and the processes of a bank.
/// Invariant: a process that has exited counts as 0.
enum ProcessFacts {
  /// Seconds of processor time that a process has used, in user mode and in the kernel. Fields 14 and 15 of
  /// /proc/PID/stat
  static func processorTime(of pid: pid_t) -> Double {
    let text = MachineInfo.text(of: "/proc/\(pid)/stat")
    guard let end = text.lastIndex(of: ")") else { return 0 }
    let fields = text[text.index(after: end)...].split(separator: " ")
    guard fields.count > 12, let user = Double(fields[11]), let system = Double(fields[12]) else { return 0 }
    return (user + system) / Double(sysconf(CInt(_SC_CLK_TCK)))
  }

  /// Number of times that a process has given up the processor to wait (`voluntary_ctxt_switches` of
  /// /proc/PID/status).
  static func voluntarySwitches(of pid: pid_t) -> Int64 {
    let text = MachineInfo.text(of: "/proc/\(pid)/status")
    let line = text.split(separator: "\n").first { $0.hasPrefix("voluntary_ctxt_switches:") }
    return line.flatMap { $0.split(whereSeparator: \.isWhitespace).last.flatMap { Int64($0) } } ?? 0
  }

  /// The processes of the bank at a home: the coordinator, its children, and every process with the home in
  /// its arguments.
  static func processes(of home: String, coordinator: pid_t) -> [pid_t] {
    let pids = ((try? Directory.entries(of: "/proc")) ?? []).compactMap { pid_t($0) }
    return pids.filter { pid in
      pid != getpid()
        && (pid == coordinator || ProcessTable.parent(of: pid) == coordinator
          || MachineInfo.text(of: "/proc/\(pid)/cmdline").contains(home))
    }
  }
}
