// Owns opening and rotating: NAME.log becomes NAME.log.1, that becomes NAME.log.2, and the oldest goes; and
// beginning anew where somebody has removed or renamed the file. It must not know lines; it is called only
// between two of them. Invariant: no line is lost to a rotation. Whatever fails, writing goes on to the file
// that is open, under its own name: nothing is renamed before the new file is there. Failure: a rotation that
// failed is tried again after as many bytes as the limit.
import Glibc
import Posix

extension LogFile {
  static func open(_ path: String) throws(SystemError) -> FileDescriptor {
    // Non-blocking means nothing for a file; where somebody has put a pipe, it keeps the process from hanging.
    try FileDescriptor.open(path, [.writeOnly, .create, .append, .nonBlocking], mode: 0o600)
  }

  /// Whether the file ends in the middle of a line, which is what a crash of the last writer can leave behind.
  static func isCut(_ path: String, size: Int64) -> Bool {
    guard size > 0, let file = try? FileDescriptor.open(path, .readOnly) else { return false }
    var last: UInt8 = UInt8(ascii: "\n")
    let count = withUnsafeMutableBytes(of: &last) { try? file.read(into: $0, at: size - 1) }
    return count == 1 && last != UInt8(ascii: "\n")
  }

  /// Begins a new file and moves the others on by one.
  ///
  /// The new file is made under a name that no reader knows. Where there is no descriptor or no room for it, the present
  /// file keeps its name, and no kept one falls off the end for nothing.
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

  /// How long a file may be missing before it is made anew: whoever removes a whole home has time to finish.
  private static let pause: Duration = .milliseconds(500)

  /// Whether what is written is found under the name of the log. A file that has lost the name is made anew when it has
  /// been missing for a while; its directory is not, which is for whoever looks after the home.
  func hasPlace(at now: MonotonicInstant) -> Bool {
    if isInPlace {
      missingSince = nil
      return true
    }
    guard let since = missingSince else {
      missingSince = now
      return false
    }
    return now - since >= Self.pause && beginAnew()
  }

  /// Makes the file anew where somebody has removed it, without waiting any longer.
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
    // The new file takes the place of the present one.
    guard keep > 0 else { return true }
    for number in stride(from: keep - 1, to: 0, by: -1) {
      guard Self.move("\(path).\(number)", to: "\(path).\(number + 1)") else { return false }
    }
    return Self.move(path, to: "\(path).1")
  }

  /// Renames; what is not there needs no renaming. `rename(2)`
  private static func move(_ path: String, to other: String) -> Bool {
    do throws(SystemError) { try Directory.rename(path, to: other) } catch { return error.code == ENOENT }
    return true
  }
}
