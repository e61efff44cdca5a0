// Owns noticing that somebody removes or renames what a process works with: each name, and the file that was
// behind it. It must not know what the files are, nor what is to be done: it says which names are lost, at
// once, and once more when whoever removes them has had the time to finish. Invariant: a file is known by its
// inode, so another file in its place counts as lost; nothing is asked of the disk while nobody touches the
// directories. Failure: SystemError where the kernel has no watch left.
import Glibc
import Time

/// Watches over names in a few directories.
public final class NameWatch {
  /// What a name must lead to.
  public enum Expectation: Sendable, Hashable {
    /// The file that it led to when it was taken for good.
    case same
    case any
  }

  /// Called with the names that are lost, as soon as the kernel tells of it.
  public var onLoss: (([String]) -> Void)?
  /// When what is lost is to be made good; nil while nothing is. Whoever removes a whole directory has time to finish:
  /// nothing is put back into it meanwhile.
  public private(set) var repairAt: MonotonicTime?
  private static let pause = TimeSpan.milliseconds(500)
  private let loop: EventLoop
  private let directories: [String]
  private let notices: DirectoryWatch
  private var registration: Registration?
  private var names: [(path: String, expectation: Expectation)] = []
  private var known: [String: FileFacts.Identity] = [:]
  /// Names that were told to be lost since they were last remembered.
  private var told: Set<String> = []

  /// Watches nothing yet.
  ///
  /// - Parameter directories: where the names are, themselves included.
  public init(in directories: [String], on loop: EventLoop) throws(SystemError) {
    self.loop = loop
    self.directories = directories
    notices = try DirectoryWatch()
    registration = try loop.register(fd: notices.fd, interest: .read) { [weak self] _ in self?.notice() }
  }

  deinit { if let registration { loop.deregister(registration) } }

  /// Takes what has these names now for what belongs there. A name that leads nowhere yet is taken when it does.
  public func expect(_ paths: [String], _ expectation: Expectation = .same) {
    names += paths.map { ($0, expectation) }
  }

  /// Takes what is there now for what belongs there, and watches the directories that there are now. A name that was lost
  /// since the last call of ``losses()``, such as during a repair, stays lost.
  public func remember() throws(SystemError) {
    repairAt = nil
    let changes = DirectoryWatch.Changes.names.union(.itself)
    for directory in directories { _ = try notices.add(directory, changes) }
    let former = known
    known.removeAll()
    adopt()
    for (path, expectation) in names {
      guard let identity = former[path], !told.contains(path), known[path] != identity else { continue }
      if expectation == .same || known[path] == nil { known[path] = identity }
    }
    told.removeAll()
    if !missing().isEmpty { putOff() }
  }

  /// The names that do not lead where they did, now.
  public func losses() -> [String] {
    let lost = missing()
    told.formUnion(lost)
    return lost
  }

  private func missing() -> [String] {
    names.filter { path, expectation in
      guard let identity = known[path] else { return false }
      let present = file(at: path)
      return expectation == .any ? present == nil : present != identity
    }.map(\.path)
  }

  /// What is lost could not be made good: it is tried again later.
  public func putOff() { repairAt = SystemClock.monotonic() + Self.pause }

  private func notice() {
    _ = try? notices.take()
    adopt()
    let lost = losses()
    guard !lost.isEmpty else { return }
    if repairAt == nil { putOff() }
    onLoss?(lost)
  }

  private func adopt() {
    for (path, _) in names where known[path] == nil { known[path] = file(at: path) }
  }

  private func file(at path: String) -> FileFacts.Identity? {
    // What cannot be looked at is not lost: it stays whatever it was.
    do { return try FileFacts.inspect(path, followLinks: false)?.identity } catch { return known[path] }
  }
}
