// Opening and rotation of a log: NAME.log becomes NAME.log.1, that becomes NAME.log.2, and the oldest is
// deleted. A removed or renamed file is created again. Called only between two lines.
// Invariant: a rotation loses no line. If it fails, writing continues in the open file under its own name,
// because nothing is renamed before the new file exists.
// Errors: a failed rotation is retried after `limit` more bytes.
import Glibc
import Posix
import Time

extension LogFile {
  static func open(_ path: String) throws(SystemError) -> FileDescriptor {
    // Non-blocking has no effect on a file. For a pipe under this name it keeps the process from blocking.
    try FileDescriptor.open(path, [.writeOnly, .create, .append, .nonBlocking], mode: 0o600)
  }

  /// True if the file ends in the middle of a line, which a crash of the last writer can cause.
  static func isCut(_ path: String, size: Int64) -> Bool {
    guard size > 0, let file = try? FileDescriptor.open(path, .readOnly) else { return false }
    var last: UInt8 = UInt8(ascii: "\n")
    let count = withUnsafeMutableBytes(of: &last) { try? file.read(into: $0, at: size - 1) }
    return count == 1 && last != UInt8(ascii: "\n")
  }

  /// Starts a new file and renames the others.
  ///
  /// The new file is created under a name that readers ignore. Without a descriptor or disk space for it,
  /// the present file keeps its name, and no old file is deleted in vain.
  func rotate() {
    let draft = "\(path).new"
    guard let fresh = try? Self.open(draft), let freshSize = try? fresh.size(), shift(),
      (try? Directory.rename(draft, to: path)) != nil
    else {
      try? Directory.unlink(draft)
      let (later, overflow) = size.addingReportingOverflow(limit)
      rotationSize = overflow ? .max : later
      return
    }
    descriptor = fresh
    size = freshSize
    rotationSize = limit
  }

  /// Time for which a file must be missing before it is created again. A process that removes a whole home
  /// has time to finish.
  private static let pause: TimeSpan = .milliseconds(500)

  /// True if the name of the log leads to the open file. Creates a file that has been missing for a while;
  /// not its directory, which the watch of the home repairs.
  func hasPlace(at now: MonotonicTime) -> Bool {
    if isInPlace {
      missingSince = nil
      return true
    }
    guard let since = missingSince else {
      missingSince = now
      return false
    }
    return now.since(since) >= Self.pause && beginAnew()
  }

  /// Creates a removed file again at once.
  public func restore() {
    if !isInPlace { _ = beginAnew() }
  }

  private var isInPlace: Bool {
    do {
      guard let named = try FileFacts.inspect(path) else { return false }
      return try named.identity == descriptor.facts().identity
    } catch {
      return true
    }
  }

  private func beginAnew() -> Bool {
    guard let fresh = try? Self.open(path), let freshSize = try? fresh.size() else { return false }
    descriptor = fresh
    size = freshSize
    rotationSize = limit
    missingSince = nil
    return true
  }

  private func shift() -> Bool {
    // The new file replaces the present one.
    guard keep > 0 else { return true }
    for number in stride(from: keep - 1, to: 0, by: -1) {
      guard Self.move("\(path).\(number)", to: "\(path).\(number + 1)") else { return false }
    }
    return Self.move(path, to: "\(path).1")
  }

  /// Renames a file; a missing one counts as renamed. `rename(2)`
  private static func move(_ path: String, to other: String) -> Bool {
    do throws(SystemError) { try Directory.rename(path, to: other) } catch { return error.code == ENOENT }
    return true
  }
}
