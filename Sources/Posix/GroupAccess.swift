// Access of a Unix group to a file or a directory, and the calendar days of this process's time zone. A group
// that does not exist is a SystemError with ENOENT.
import ByteText
import Glibc

/// Access of a group to files that are otherwise accessible only to their owner.
public enum GroupAccess {
  /// Group id of the group with this name. `getgrnam_r(3)`
  public static func group(named name: String) throws(SystemError) -> gid_t {
    var entry = Glibc.group()
    var found: UnsafeMutablePointer<Glibc.group>?
    var buffer = [CChar](repeating: 0, count: 1 << 16)
    let code = getgrnam_r(name, &entry, &buffer, buffer.count, &found)
    guard code == 0, found != nil else {
      throw SystemError(call: "getgrnam", subject: name, code: code == 0 ? ENOENT : code)
    }
    return entry.gr_gid
  }

  /// Changes the group and the permissions of the file with this path. `chown(2)`, `chmod(2)`
  public static func share(_ path: String, with group: gid_t, mode: mode_t) throws(SystemError) {
    guard path.withByteString({ chown($0, uid_t.max, group) }) == 0 else {
      throw SystemError(call: "chown", subject: path, code: errno)
    }
    guard path.withByteString({ chmod($0, mode) }) == 0 else {
      throw SystemError(call: "chmod", subject: path, code: errno)
    }
  }
}

/// Calendar in the local time zone of this process.
public enum LocalCalendar {
  /// Milliseconds since 1970 at `hour`:`minute` local time, on the day that contains `milliseconds` or `days`
  /// days later; nil if the time cannot be represented. `mktime(3)`
  public static func moment(
    hour: Int32, minute: Int32, onTheDayOf milliseconds: Int64, later days: Int32 = 0
  ) -> Int64? {
    var (moment, parts) = (time_t(milliseconds / 1_000), tm())
    let isSimulated = Kernel.simulated != nil
    guard (isSimulated ? gmtime_r(&moment, &parts) : localtime_r(&moment, &parts)) != nil else { return nil }
    (parts.tm_hour, parts.tm_min, parts.tm_sec) = (hour, minute, 0)
    parts.tm_mday += days
    // With -1, mktime determines whether daylight saving time applies.
    parts.tm_isdst = -1
    let found = isSimulated ? timegm(&parts) : mktime(&parts)
    return found == -1 ? nil : Int64(found) * 1_000
  }

  /// The local day that contains a time, as the number of days since 1970-01-01. `localtime_r(3)`
  public static func day(atMilliseconds milliseconds: Int64) -> Int64 {
    let seconds = milliseconds >= 0 ? milliseconds / 1_000 : (milliseconds - 999) / 1_000
    var (moment, parts) = (time_t(seconds), tm())
    // A simulated machine uses UTC, whatever the time zone of the real machine is.
    let isLocal = Kernel.simulated == nil && localtime_r(&moment, &parts) != nil
    let offset = isLocal ? Int64(parts.tm_gmtoff) : 0
    let local = seconds + offset
    return local >= 0 ? local / 86_400 : (local - 86_399) / 86_400
  }
}
