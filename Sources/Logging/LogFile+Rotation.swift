// Opening and rotation of a log: NAME.log becomes NAME.log.1, NAME.log.1 becomes NAME.log.2, and the oldest file is
// deleted. A log file that another program removed or renamed is created again.
// Invariant: a rotation loses only the lines of the deleted file. If a rotation fails, writing continues in the open
// file. No file is renamed before the new file exists.
// Errors: a failed rotation is retried after `limit` more bytes.
import Glibc
import Posix
import Time

extension LogFile {
  /// Opens a log for appending, or creates it.
  static func open(_ path: String) throws(SystemError) -> FileDescriptor {
    // O_NONBLOCK has no effect on a regular file. If a pipe has this name, the flag keeps the process from blocking.
    try FileDescriptor.open(path, [.writeOnly, .create, .append, .nonBlocking], mode: 0o600)
  }

  /// True if the file ends in the middle of a line, which a crash of the last writer can cause.
  static func isCut(_ path: String, size: Int64) -> Bool {
    guard size > 0, let file = try? FileDescriptor.open(path, .readOnly) else { return false }
    var last: UInt8 = UInt8(ascii: "\n")
    let count = withUnsafeMutableBytes(of: &last) { try? file.read(into: $0, at: size - 1) }
    return count == 1 && last != UInt8(ascii: "\n")
  }

  /// Starts a new file and renames the existing ones.
  ///
  /// The new file is created first, under a name that readers ignore. If no descriptor is left, the present file
  /// therefore keeps its name, and no old file is deleted.
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

  /// Time for which a file must be missing before it is created again. The delay lets a process that removes a whole
  /// home finish.
  private static let pause: TimeSpan = .milliseconds(500)

  /// Returns true if the path of the log refers to the open file, or cannot be inspected. Creates the file again, and
  /// returns true, if it has been missing for ``pause``.
  func ensureFileExists(at now: MonotonicTime) -> Bool {
    if isInPlace {
      missingSince = nil
      return true
    }
    guard let since = missingSince else {
      missingSince = now
      return false
    }
    return now.since(since) >= Self.pause && recreate()
  }

  /// Creates a removed or renamed file again. If the file cannot be created, the log keeps the open one.
  public func restore() {
    if !isInPlace { _ = recreate() }
  }

  /// True if the path refers to the open file, or cannot be inspected.
  private var isInPlace: Bool {
    do {
      guard let named = try FileMetadata.inspect(path) else { return false }
      return try named.identity == descriptor.metadata().identity
    } catch {
      return true
    }
  }

  /// Opens the path as a new file; false if this fails.
  private func recreate() -> Bool {
    guard let fresh = try? Self.open(path), let freshSize = try? fresh.size() else { return false }
    descriptor = fresh
    size = freshSize
    rotationSize = limit
    missingSince = nil
    return true
  }

  /// Renames each file to the name of the next older one; false if a file cannot be renamed.
  private func shift() -> Bool {
    // If no rotated file is kept, the new file replaces the present one.
    guard keep > 0 else { return true }
    for number in stride(from: keep - 1, to: 0, by: -1) {
      guard Self.move("\(path).\(number)", to: "\(path).\(number + 1)") else { return false }
    }
    return Self.move(path, to: "\(path).1")
  }

  /// Renames a file. Returns true also if the file does not exist.
  private static func move(_ path: String, to other: String) -> Bool {
    do throws(SystemError) { try Directory.rename(path, to: other) } catch { return error.code == ENOENT }
    return true
  }
}
