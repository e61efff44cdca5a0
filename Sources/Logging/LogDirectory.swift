// Log files of the bank's processes: `NAME.log` is the present file, `NAME.log.1` the previous one, and so on.
// Invariant: one call of `segments` returns a file at most once, even if a rotation renames the file during the call.
// Errors: `LogFailure`.
import Glibc
import Posix

/// The directory with the log files of a bank.
struct LogDirectory {
  let path: String

  /// Sorted names of the logs, such as `deposit-1` or `coordinator`.
  func workers() throws(LogFailure) -> [String] {
    Set(try entries().compactMap { Self.parse($0)?.worker }).sorted()
  }

  /// Opens the files of a log that are newer than every file for which `known` returns true. Returns them with the
  /// oldest first.
  ///
  /// - Parameter known: returns true for a file that the caller knows. This file and all older ones are not returned.
  func segments(
    of worker: String, newerThan known: (LogSegment) throws(LogFailure) -> Bool
  ) throws(LogFailure) -> [LogSegment] {
    // A rotation renames the oldest file first. A walk from the newest file to the oldest therefore meets a renamed
    // file again and does not miss it.
    var opened: [LogSegment] = []
    var (age, highest) = (0, try highestAge(of: worker))
    while true {
      if age > highest + 1 {
        // A rotation may have renamed the oldest file during the walk.
        highest = try highestAge(of: worker)
        if age > highest + 1 { break }
      }
      defer { age += 1 }
      guard let segment = try LogSegment.open(file(of: worker, age: age)) else { continue }
      if let index = opened.firstIndex(where: { $0.identity == segment.identity }) {
        // A rotation has renamed this file after it was opened. Files opened since then may be newer than it. In the
        // order in which each was last opened, the files are sorted from the newest to the oldest.
        opened.append(opened.remove(at: index))
      } else {
        if try known(segment) { break }
        opened.append(segment)
      }
    }
    return opened.reversed()
  }

  /// Age of a log's oldest file; 0 if there is none.
  private func highestAge(of worker: String) throws(LogFailure) -> Int {
    try entries().compactMap { Self.parse($0) }.filter { $0.worker == worker }.map(\.age).max() ?? 0
  }

  /// Path of the file of a log with this age; 0 is the present file.
  private func file(of worker: String, age: Int) -> String {
    Paths.join(path, age == 0 ? "\(worker).log" : "\(worker).log.\(age)")
  }

  private func entries() throws(LogFailure) -> [String] {
    do throws(SystemError) { return try Directory.entries(of: path) } catch {
      throw error.isMissing ? .noDirectory(path) : .system(error)
    }
  }

  /// Parses the name of a log file: `loan-1.log.2` is the file of the log `loan-1` with age 2. Returns nil for any
  /// other name.
  static func parse(_ entry: String) -> (worker: String, age: Int)? {
    if entry.hasSuffix(".log") { return entry.utf8.count > 4 ? (String(entry.dropLast(4)), 0) : nil }
    guard let dot = entry.lastIndex(of: "."), let age = Int(entry[entry.index(after: dot)...]),
      // A name with an age in another notation, such as `.01`, is not the name of a log file.
      (1...999).contains(age), entry[entry.index(after: dot)...] == "\(age)",
      entry[..<dot].hasSuffix(".log"), entry[..<dot].utf8.count > 4
    else { return nil }
    return (String(entry[..<dot].dropLast(4)), age)
  }
}
