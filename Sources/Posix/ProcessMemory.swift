// Owns how much memory a process uses, as /proc tells it.
// It must not know how much is too much.
// Invariant: a process that is gone, or not ours to look at, is nil and never 0.
// Failure: nil.
import Glibc

/// The memory of a process. `proc(5)`
public enum ProcessMemory {
  /// The bytes in RAM, shared pages counted in full; nil where the process is gone. /proc/PID/statm
  public static func residentBytes(pid: pid_t) -> Int64? {
    guard let text = ProcessTable.text(of: "/proc/\(pid)/statm", limit: 256) else { return nil }
    let fields = text.split(separator: " ")
    guard fields.count > 1, let pages = Int64(fields[1]) else { return nil }
    return pages * Int64(sysconf(CInt(_SC_PAGESIZE)))
  }

  /// The bytes in RAM, a page shared by n processes counted as 1/n; nil where the process is gone or another
  /// user's.
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
