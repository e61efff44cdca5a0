// Search for a variable in the environment with which a process was started. This environment stays in the
// memory of the process, at addresses that the kernel has recorded. The search reads it in pieces, up to a
// limit.
// Invariant: a setting matches as a whole, or, as a prefix, at the start of a variable. If a process has exited, may
// not be read by this user, or has overwritten its environment, the search does not find the variable.
import Glibc
import Posix

/// Looks for `NAME=VALUE` in `/proc/PID/environ`. `proc_pid_environ(5)`
struct EnvironmentMatcher {
  /// Maximum number of bytes to read. Arguments and environment together take at most a quarter of the stack
  /// limit, at least 128 KiB and at most 6 MiB. `execve(2)`
  private static let maximumBytes = 6 << 20

  /// The bytes of `NAME=VALUE`.
  private let setting: [UInt8]
  /// True if `setting` contains only the start of the value.
  private let isPrefix: Bool

  /// A search for a variable with this value, or with a value that starts with it if `isPrefix` is true.
  init(_ name: String, _ value: String, isPrefix: Bool = false) {
    setting = Array("\(name)=\(value)".utf8)
    self.isPrefix = isPrefix
  }

  /// True if the environment of a process contains the setting.
  func matches(_ pid: pid_t) -> Bool {
    guard let file = try? FileDescriptor.open("/proc/\(pid)/environ", .readOnly) else { return false }
    var search = Progress(setting, isPrefix: isPrefix)
    var left = Self.maximumBytes
    return withUnsafeTemporaryAllocation(byteCount: 16 << 10, alignment: 16) { piece in
      while left > 0 {
        guard case .bytes(let count)? = try? file.read(into: piece) else { return search.isAtMatch }
        if search.consume(UnsafeRawBufferPointer(rebasing: piece[..<count])) { return true }
        left -= count
      }
      return false
    }
  }

  struct Progress {
    private let setting: [UInt8]
    private let isPrefix: Bool
    /// Number of bytes that match so far; nil after a byte that differs.
    private var matched: Int? = 0

    init(_ setting: [UInt8], isPrefix: Bool = false) { (self.setting, self.isPrefix) = (setting, isPrefix) }

    /// True if the variable that is being read has matched the whole setting so far.
    var isAtMatch: Bool { matched == setting.count }

    /// Compares the next bytes of the environment. Returns true if the setting ends within these bytes.
    mutating func consume(_ bytes: UnsafeRawBufferPointer) -> Bool {
      var place = 0
      while place < bytes.count {
        guard let count = matched else {
          // This is another variable: skip to the zero byte at its end.
          guard let end = memchr(bytes.baseAddress! + place, 0, bytes.count - place) else { return false }
          place = UnsafeRawPointer(end) - bytes.baseAddress! + 1
          matched = 0
          continue
        }
        let byte = bytes[place]
        place += 1
        if count < setting.count {
          if byte == setting[count] { matched = count + 1 } else { matched = byte == 0 ? 0 : nil }
          if isPrefix, isAtMatch { return true }
        } else if byte == 0 {
          return true
        } else {
          matched = nil
        }
      }
      return false
    }
  }
}
