// Owns being told that logs were written, rotated or removed, also where their directory is not there yet or goes away.
// It must not know what stands in the logs.
// Invariant: either the directory is watched, or the nearest one above it that exists; nothing is looked at by the clock.
// Failure: LogFailure.system, kept until somebody asks for the news.
import Glibc
import Posix

/// Watches a directory of logs on an event loop.
final class LogWatch {
  /// What has changed, the lesser first.
  enum News: Comparable {
    /// Nothing.
    case none
    /// Files have grown.
    case contents
    /// Files came, went or were renamed, perhaps together with their directory.
    case names
  }

  private let path: String
  private let loop: EventLoop
  private let watch: DirectoryWatch
  private var registration: Registration?
  private var token: DirectoryWatch.Token?
  private var isWatchingAbove = false
  private var news = News.none
  private var failure: LogFailure?
  /// When the first of the news came that nobody has taken yet.
  private(set) var firstNews: MonotonicInstant?

  init(_ path: String, on loop: EventLoop) throws(LogFailure) {
    self.path = path
    self.loop = loop
    do throws(SystemError) {
      watch = try DirectoryWatch()
      registration = nil
      try establish()
      registration = try loop.register(fd: watch.fd, interest: .read) { [weak self] _ in self?.look() }
    } catch {
      throw .system(error)
    }
    // There was no look yet.
    note(.names)
  }

  deinit { if let registration { loop.deregister(registration) } }

  /// What has changed since the last call.
  func takeNews() throws(LogFailure) -> News {
    if let failure { throw failure }
    defer {
      news = .none
      firstNews = nil
    }
    return news
  }

  private func note(_ kind: News) {
    news = max(news, kind)
    if firstNews == nil { firstNews = SystemClock.monotonic() }
  }

  private func look() {
    do throws(SystemError) {
      var isLost = false
      for event in try watch.take() {
        if event.changes.contains(.overflowed) { note(.names) }
        guard event.token == token else { continue }
        if isWatchingAbove || !event.changes.isDisjoint(with: [.itself, .ended]) {
          isLost = true
        } else if LogDirectory.parse(event.name) != nil {
          note(event.changes.isDisjoint(with: .names) ? .contents : .names)
        }
      }
      if isLost { try establish() }
    } catch {
      failure = .system(error)
      note(.names)
    }
  }

  /// Watches the directory, or the nearest one above.
  private func establish() throws(SystemError) {
    if let token { watch.remove(token) }
    token = nil
    var candidate = path
    var missing: String?
    while token == nil {
      do throws(SystemError) {
        let changes: DirectoryWatch.Changes = missing == nil ? [.modified, .names] : [.created, .movedTo]
        token = try watch.add(candidate, changes.union(.itself))
      } catch {
        let above = Paths.directory(of: candidate)
        guard error.code == ENOENT || error.code == ENOTDIR, above != candidate else { throw error }
        missing = candidate
        candidate = above
        continue
      }
      // What is missing may have come before the watch was there.
      if let name = missing, let facts = try FileFacts.inspect(name), facts.isDirectory {
        if let token { watch.remove(token) }
        (token, candidate, missing) = (nil, path, nil)
      }
    }
    isWatchingAbove = missing != nil
    if !isWatchingAbove { note(.names) }
  }
}
