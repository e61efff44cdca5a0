// Detects that logs were written, rotated or removed, even if their directory is missing or removed.
// Invariant: the directory and its parent are watched, or else the nearest existing directory above it. If the kernel
// has no watch left, the logs are polled.
// Errors: `LogFailure.system`. An error after the start is thrown by later calls of `takeChange()`.
import Glibc
import Posix
import Time

/// Watch of a log directory, and of its parent.
final class LogDirectoryWatcher {
  /// Kind of change. A later case requires more work of the reader.
  enum Change: Comparable {
    case none
    case contents
    /// Files were, or may have been, created, removed or renamed, perhaps together with their directory.
    case names
  }

  private let path: String
  private let loop: EventLoop
  /// Nil if the kernel has no watch left.
  private var watch: DirectoryWatch?
  private var registration: Registration?
  /// Watch of the log directory; nil while it is missing.
  private var directory: DirectoryWatch.Token?
  /// Watch of the parent, or of the nearest existing directory above it; nil for none.
  private var parentWatch: DirectoryWatch.Token?
  /// The most important change since the last `takeChange()`.
  private var change = Change.none
  /// An error after the start.
  private var failure: LogFailure?
  /// Time of the first change since the last `takeChange()`; without a watch the time of the next poll.
  private(set) var firstChangeAt: MonotonicTime?
  /// Polling interval without a watch.
  private static let pause = TimeSpan.milliseconds(200)

  /// Starts to watch the directory.
  ///
  /// - Parameter makeWatch: creates the watch.
  init(
    _ path: String, on loop: EventLoop,
    _ makeWatch: () throws(SystemError) -> DirectoryWatch = { () throws(SystemError) in try DirectoryWatch() }
  ) throws(LogFailure) {
    self.path = path
    self.loop = loop
    do throws(SystemError) {
      let watch = try makeWatch()
      self.watch = watch
      try addWatches()
      registration = try loop.register(fd: watch.fd, interest: .read) { [weak self] _ in self?.processEvents()
      }
    } catch {
      guard Self.isShortage(error) else { throw .system(error) }
      poll()
    }
  }

  /// True if there is no inotify instance, watch, descriptor or memory left. `inotify_init1(2)`,
  /// `inotify_add_watch(2)`
  private static func isShortage(_ error: SystemError) -> Bool {
    ["inotify_init1", "inotify_add_watch"].contains(error.call)
      && [EMFILE, ENFILE, ENOSPC, ENOMEM].contains(error.code)
  }

  /// Switches from inotify to polling.
  private func poll() {
    if let registration { loop.deregister(registration) }
    (registration, watch, directory, parentWatch) = (nil, nil, nil, nil)
    recordChange(.names)
  }

  deinit { if let registration { loop.deregister(registration) } }

  /// Returns the most important change since the last call. Without a watch it is `names`, so that the caller looks for
  /// all changes.
  func takeChange() throws(LogFailure) -> Change {
    if let failure { throw failure }
    guard watch != nil else {
      firstChangeAt = SystemClock.monotonic() + Self.pause
      return .names
    }
    defer { (change, firstChangeAt) = (.none, nil) }
    return change
  }

  /// True if the directory is missing. With a watch, this is known from the events handled so far.
  var isMissing: Bool {
    if watch != nil { return directory == nil }
    return ((try? FileMetadata.inspect(path)) ?? nil)?.isDirectory != true
  }

  private func recordChange(_ kind: Change) {
    change = max(change, kind)
    if firstChangeAt == nil { firstChangeAt = SystemClock.monotonic() }
  }

  private func processEvents() {
    guard let watch else { return }
    do throws(SystemError) {
      var isLost = false
      for event in try watch.take() {
        if event.changes.contains(.overflowed) { recordChange(.names) }
        let isEnd = !event.changes.isDisjoint(with: [.selfChanges, .ended])
        if event.token == directory {
          isLost = isLost || isEnd
          if LogDirectory.parse(event.name) != nil {
            recordChange(event.changes.isDisjoint(with: .names) ? .contents : .names)
          }
        } else if event.token == parentWatch {
          isLost = isLost || isEnd || isMissing || event.name == Paths.lastPart(of: path)
        }
      }
      if isLost { try addWatches() }
    } catch {
      if Self.isShortage(error) { return poll() }
      failure = .system(error)
      recordChange(.names)
    }
  }

  /// Watches the directory and its parent, or else the nearest existing directory above it.
  private func addWatches() throws(SystemError) {
    if let directory { watch?.remove(directory) }
    if let parentWatch { watch?.remove(parentWatch) }
    (directory, parentWatch) = (nil, nil)
    while true {
      if let found = try add(path, [.modified, .names]) {
        directory = found
        // The parent reports the removal of the directory. The directory itself does not report it while a file in it
        // is open.
        let parent = Paths.directory(of: path)
        // A parent without read permission cannot be watched. In this case the removal may be missed.
        if parent != path { parentWatch = try? add(parent, .names) }
        break
      }
      let missing = try watchAboveMissing()
      // The missing directory may have been created before the watch existed.
      guard let facts = try FileMetadata.inspect(missing), facts.isDirectory else { break }
      if let parentWatch { watch?.remove(parentWatch) }
    }
    recordChange(.names)
  }

  /// Watches the nearest existing directory above the missing one.
  ///
  /// - Returns: The highest missing directory; its parent is watched now.
  private func watchAboveMissing() throws(SystemError) -> String {
    var missing = path
    while true {
      let candidate = Paths.directory(of: missing)
      parentWatch = try add(candidate, [.created, .movedTo])
      if parentWatch != nil || candidate == missing { return missing }
      missing = candidate
    }
  }

  /// Watches a directory for these changes, and for changes of the directory itself. Returns nil if it does not exist.
  private func add(
    _ path: String, _ changes: DirectoryWatch.Changes
  ) throws(SystemError) -> DirectoryWatch.Token? {
    do throws(SystemError) { return try watch?.add(path, changes.union(.selfChanges)) } catch {
      if error.isMissing { return nil }
      throw error
    }
  }
}
