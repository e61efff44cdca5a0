// Owns the question whether a process was started with a certain variable. Only the kernel's copy of its first
// environment is read, in pieces and not beyond a bound. Invariant: a setting is found only as a whole.
// Failure: a process that has gone, is another user's, or has overwritten its environment does not have the variable.
import Glibc
import Posix

/// Looks for `NAME=VALUE` in `/proc/PID/environ`. `proc_pid_environ(5)`
struct EnvironmentSearch {
  /// The kernel takes a quarter of the stack's limit, at least 128 KiB and at most 6 MiB, for words and environment.
  private static let most = 6 << 20

  private let setting: [UInt8]
  /// Whether only the beginning of the value is known.
  private let isPrefix: Bool

  init(_ name: String, _ value: String, isPrefix: Bool = false) {
    setting = Array("\(name)=\(value)".utf8)
    self.isPrefix = isPrefix
  }

  func matches(_ pid: pid_t) -> Bool {
    guard let file = try? FileDescriptor.open("/proc/\(pid)/environ", .readOnly) else { return false }
    var search = Progress(setting, isPrefix: isPrefix)
    var left = Self.most
    return withUnsafeTemporaryAllocation(byteCount: 16 << 10, alignment: 16) { piece in
      while left > 0 {
        guard case .bytes(let count)? = try? file.read(into: piece) else { return search.isAtMatch }
        if search.take(UnsafeRawBufferPointer(rebasing: piece[..<count])) { return true }
        left -= count
      }
      return false
    }
  }

  /// How far the present variable agrees.
  struct Progress {
    private let setting: [UInt8]
    private let isPrefix: Bool
    /// So many of its bytes agree; nil where it is another.
    private var matched: Int? = 0

    init(_ setting: [UInt8], isPrefix: Bool = false) { (self.setting, self.isPrefix) = (setting, isPrefix) }

    var isAtMatch: Bool { matched == setting.count }

    /// Whether one of the variables that end in these bytes is the setting.
    mutating func take(_ bytes: UnsafeRawBufferPointer) -> Bool {
      var place = 0
      while place < bytes.count {
        guard let count = matched else {
          // Another variable: on to the zero byte at its end.
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
