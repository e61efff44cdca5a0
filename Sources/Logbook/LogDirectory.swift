// Owns which files belong to which worker: `NAME.log` is the present one, `NAME.log.1` the one before it, and
// so on. Invariant: a file is opened once in a walk, also where a rotation renames it meanwhile; only what
// falls off the end of the row can be missed. Failure: LogFailure.
import Glibc
import Posix

struct LogDirectory {
  let path: String

  /// The workers that have a log, by name.
  func workers() throws(LogFailure) -> [String] {
    Set(try entries().compactMap { Self.parse($0)?.worker }).sorted()
  }

  /// Opens the files of a worker that were not seen before, oldest first.
  ///
  /// - Parameter known: where the walk from the present file back ends.
  func segments(
    of worker: String, newerThan known: (LogSegment) throws(LogFailure) -> Bool
  ) throws(LogFailure) -> [LogSegment] {
    // A rotation renames from the old end on. Walking from the new end on, a file that moves is met again and never
    // missed, however often it moves, as long as the walk does not end before it.
    var met: [LogSegment] = []
    var (age, highest) = (0, try highestAge(of: worker))
    while true {
      if age > highest + 1 {
        // What was the last may have been moved on meanwhile.
        highest = try highestAge(of: worker)
        if age > highest + 1 { break }
      }
      defer { age += 1 }
      guard let segment = try LogSegment.open(file(of: worker, age: age)) else { continue }
      if let index = met.firstIndex(where: { $0.identity == segment.identity }) {
        // Who was met since may be newer. The last meetings are in order: whoever is older is met later.
        met.append(met.remove(at: index))
      } else {
        if try known(segment) { break }
        met.append(segment)
      }
    }
    return met.reversed()
  }

  /// The age of a worker's oldest file; 0 where there is none.
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

  /// `loan-1.log.2` is worker `loan-1` at age 2; nil for what is no log file.
  static func parse(_ entry: String) -> (worker: String, age: Int)? {
    if entry.hasSuffix(".log") { return entry.utf8.count > 4 ? (String(entry.dropLast(4)), 0) : nil }
    guard let dot = entry.lastIndex(of: "."), let age = Int(entry[entry.index(after: dot)...]),
      // An age that is written in another way, such as `.01`, is somebody else's file.
      (1...999).contains(age), entry[entry.index(after: dot)...] == "\(age)",
      entry[..<dot].hasSuffix(".log"), entry[..<dot].utf8.count > 4
    else { return nil }
    return (String(entry[..<dot].dropLast(4)), age)
  }
}
