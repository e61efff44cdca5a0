// Owns being told that logs were written, rotated or removed, also where their directory is not there yet or
// goes away. Invariant: either the directory is watched, or the nearest one above it that exists; nothing is
// looked at by the clock, unless the kernel has no watch left: then the logs are looked at five times a second.
// A directory farther above that is renamed takes the logs along, and they are followed where they are then.
// Failure: LogFailure.system, kept until the news are asked for.
import Glibc
import Posix
import Time

final class LogWatch {
  /// What has changed, the lesser first.
  enum News: Comparable {
    case none
    case contents
    /// Files came, went or were renamed, perhaps together with their directory.
    case names
  }

  private let path: String
  private let loop: EventLoop
  /// Nil if the kernel has no watch left.
  private var watch: DirectoryWatch?
  private var registration: Registration?
  /// The directory of the logs; nil while it is missing.
  private var directory: DirectoryWatch.Token?
  private var above: DirectoryWatch.Token?
  private var news = News.none
  private var failure: LogFailure?
  /// When the first of the news came that nobody has taken yet; without a watch when to look next.
  private(set) var firstNews: MonotonicTime?
  /// From one look to the next where there is no watch.
  private static let pause = TimeSpan.milliseconds(200)

  /// - Parameter makeWatch: a test has a kernel without a watch.
  init(
    _ path: String, on loop: EventLoop,
    _ makeWatch: () throws(SystemError) -> DirectoryWatch = { () throws(SystemError) in try DirectoryWatch() }
  ) throws(LogFailure) {
    self.path = path
    self.loop = loop
    do throws(SystemError) {
      let watch = try makeWatch()
      self.watch = watch
      try establish()
      registration = try loop.register(fd: watch.fd, interest: .read) { [weak self] _ in self?.look() }
    } catch {
      guard Self.isShortage(error) else { throw .system(error) }
      poll()
    }
  }

  /// Whether the user has no watch left: so many instances, so many directories, or so much memory. `inotify(7)`
  private static func isShortage(_ error: SystemError) -> Bool {
    ["inotify_init1", "inotify_add_watch"].contains(error.call)
      && [EMFILE, ENFILE, ENOSPC, ENOMEM].contains(error.code)
  }

  /// Looks by the clock from now on.
  private func poll() {
    if let registration { loop.deregister(registration) }
    (registration, watch, directory, above) = (nil, nil, nil, nil)
    note(.names)
  }

  deinit { if let registration { loop.deregister(registration) } }

  /// What has changed since the last call.
  func takeNews() throws(LogFailure) -> News {
    if let failure { throw failure }
    guard watch != nil else {
      firstNews = SystemClock.monotonic() + Self.pause
      return .names
    }
    defer { (news, firstNews) = (.none, nil) }
    return news
  }

  /// Whether there was no directory when it was last looked for.
  var isMissing: Bool {
    if watch != nil { return directory == nil }
    return ((try? FileFacts.inspect(path)) ?? nil)?.isDirectory != true
  }

  private func note(_ kind: News) {
    news = max(news, kind)
    if firstNews == nil { firstNews = SystemClock.monotonic() }
  }

  private func look() {
    guard let watch else { return }
    do throws(SystemError) {
      var isLost = false
      for event in try watch.take() {
        if event.changes.contains(.overflowed) { note(.names) }
        let isEnd = !event.changes.isDisjoint(with: [.itself, .ended])
        if event.token == directory {
          isLost = isLost || isEnd
          if LogDirectory.parse(event.name) != nil {
            note(event.changes.isDisjoint(with: .names) ? .contents : .names)
          }
        } else if event.token == above {
          isLost = isLost || isEnd || isMissing || event.name == Paths.lastPart(of: path)
        }
      }
      if isLost { try establish() }
    } catch {
      if Self.isShortage(error) { return poll() }
      failure = .system(error)
      note(.names)
    }
  }

  /// Watches the directory and the one above it; where it is missing, the nearest one above that exists.
  private func establish() throws(SystemError) {
    if let directory { watch?.remove(directory) }
    if let above { watch?.remove(above) }
    (directory, above) = (nil, nil)
    while true {
      if let found = try add(path, [.modified, .names]) {
        directory = found
        // Being removed is told by the directory above: while a file in it is open, itself it does not.
        let parent = Paths.directory(of: path)
        // One that may be entered and not read cannot be watched; then only that is missed.
        if parent != path { above = try? add(parent, .names) }
        break
      }
      let missing = try watchAboveMissing()
      // What is missing may have come before the watch was there.
      guard let facts = try FileFacts.inspect(missing), facts.isDirectory else { break }
      if let above { watch?.remove(above) }
    }
    note(.names)
  }

  /// - Returns: The highest directory that is missing; the one above it is watched now.
  private func watchAboveMissing() throws(SystemError) -> String {
    var missing = path
    while true {
      let candidate = Paths.directory(of: missing)
      above = try add(candidate, [.created, .movedTo])
      if above != nil || candidate == missing { return missing }
      missing = candidate
    }
  }

  /// - Returns: nil where there is no such directory.
  private func add(
    _ path: String, _ changes: DirectoryWatch.Changes
  ) throws(SystemError) -> DirectoryWatch.Token? {
    do throws(SystemError) { return try watch?.add(path, changes.union(.itself)) } catch {
      if error.isMissing { return nil }
      throw error
    }
  }
}
