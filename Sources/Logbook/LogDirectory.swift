// Log files of workers: `NAME.log` is the present one, `NAME.log.1` the one before it, and so on.
// Invariant: one walk opens a file once, even if a rotation renames it meanwhile. Only files that a
// rotation deletes can be missed.
// Errors: `LogFailure`.
import Glibc
import Posix

struct LogDirectory {
  let path: String

  /// Names of the workers with a log.
  func workers() throws(LogFailure) -> [String] {
    Set(try entries().compactMap { Self.parse($0)?.worker }).sorted()
  }

  /// Opens the unseen files of a worker, oldest first.
  ///
  /// - Parameter known: returns true for the file at which the walk from the present file back ends.
  func segments(
    of worker: String, newerThan known: (LogSegment) throws(LogFailure) -> Bool
  ) throws(LogFailure) -> [LogSegment] {
    // A rotation renames from the oldest file on. A walk from the newest file on meets a moved file again
    // and never misses it, however often it moves, unless the walk ends before it.
    var met: [LogSegment] = []
    var (age, highest) = (0, try highestAge(of: worker))
    while true {
      if age > highest + 1 {
        // A rotation may have moved the last file meanwhile.
        highest = try highestAge(of: worker)
        if age > highest + 1 { break }
      }
      defer { age += 1 }
      guard let segment = try LogSegment.open(file(of: worker, age: age)) else { continue }
      if let index = met.firstIndex(where: { $0.identity == segment.identity }) {
        // Files met since may be newer. The last meetings are in order, because an older file is met later.
        met.append(met.remove(at: index))
      } else {
        if try known(segment) { break }
        met.append(segment)
      }
    }
    return met.reversed()
  }

  /// Age of a worker's oldest file; 0 if there is none.
  private func highestAge(of worker: String) throws(LogFailure) -> Int {
    try entries().compactMap { Self.parse($0) }.filter { $0.worker == worker }.map(\.age).max() ?? 0
  }

  private func file(of worker: String, age: Int) -> String {
    Paths.join(path, age == 0 ? "\(worker).log" : "\(worker).log.\(age)")
  }

  private func entries() throws(LogFailure) -> [String] {
    do throws(SystemError) { return try Directory.entries(of: path) } catch {
      throw error.isMissing ? .noDirectory(path) : .system(error)
    }
  }

  /// `loan-1.log.2` is worker `loan-1` at age 2; nil for other files.
  static func parse(_ entry: String) -> (worker: String, age: Int)? {
    if entry.hasSuffix(".log") { return entry.utf8.count > 4 ? (String(entry.dropLast(4)), 0) : nil }
    guard let dot = entry.lastIndex(of: "."), let age = Int(entry[entry.index(after: dot)...]),
      // An age in another notation, such as `.01`, is not one of our files.
      (1...999).contains(age), entry[entry.index(after: dot)...] == "\(age)",
      entry[..<dot].hasSuffix(".log"), entry[..<dot].utf8.count > 4
    else { return nil }
    return (String(entry[..<dot].dropLast(4)), age)
  }
}
