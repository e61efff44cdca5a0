// Owns reading of /proc what the bench needs beyond memory: processor time, voluntary switches, and which processes
// belong to a bank. It must not know measurements. Invariant: a process that is gone counts as 0.

import Glibc
import Posix

enum ProcessFacts {
  /// Seconds of processor time that a process has used, in user mode and in the kernel. Fields 14 and 15 of
  /// /proc/PID/stat
  static func processorTime(of pid: pid_t) -> Double {
    let text = Machine.text(of: "/proc/\(pid)/stat")
    guard let end = text.lastIndex(of: ")") else { return 0 }
    let fields = text[text.index(after: end)...].split(separator: " ")
    guard fields.count > 12, let user = Double(fields[11]), let system = Double(fields[12]) else { return 0 }
    return (user + system) / Double(sysconf(CInt(_SC_CLK_TCK)))
  }

  /// How often a process has given up the processor to wait. /proc/PID/status
  static func voluntarySwitches(of pid: pid_t) -> Int64 {
    let text = Machine.text(of: "/proc/\(pid)/status")
    let line = text.split(separator: "\n").first { $0.hasPrefix("voluntary_ctxt_switches:") }
    return line.flatMap { $0.split(whereSeparator: \.isWhitespace).last.flatMap { Int64($0) } } ?? 0
  }

  /// The processes of the bank at a home: the coordinator, its children, and whoever names the home.
  static func processes(of home: String, coordinator: pid_t) -> [pid_t] {
    let pids = ((try? Directory.entries(of: "/proc")) ?? []).compactMap { pid_t($0) }
    return pids.filter { pid in
      pid != getpid()
        && (pid == coordinator || ProcessTable.parent(of: pid) == coordinator
          || Machine.text(of: "/proc/\(pid)/cmdline").contains(home))
    }
  }
}
