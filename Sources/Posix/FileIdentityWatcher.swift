// Detection of removed or renamed files that a process uses. It stores each name with the file to which the
// name led.
// Invariant: a file is identified by its device and inode. A name that leads to another file counts as lost, unless
// the name expects any file. Errors: SystemError if a directory is missing, or if the kernel permits no more watches.
import Glibc
import Time

/// Watches names of files in a few directories, and reports names that lead to another file than expected, or to none.
public final class FileIdentityWatcher {
  /// Requirement on the file to which a name leads.
  public enum Expectation: Sendable, Hashable {
    /// The file to which the name led when the watch recorded it.
    case same
    /// Any file that has the name.
    case any
  }

  /// Called with the lost names when the kernel reports a change.
  public var onMissingFiles: (([String]) -> Void)?
  /// Time at which lost files should be restored; nil if no loss was detected. The delay lets a process that removes
  /// a whole directory finish.
  public private(set) var repairAt: MonotonicTime?
  /// Time from the detection of a loss to the restoration.
  private static let pause = TimeSpan.milliseconds(500)
  private let loop: EventLoop
  private let directories: [String]
  private let watch: DirectoryWatch
  private var registration: Registration?
  private var names: [(path: String, expectation: Expectation)] = []
  /// Expected files by name.
  private var known: [String: FileMetadata.Identity] = [:]
  /// Names reported as lost since the last ``remember()``.
  private var reported: Set<String> = []

  /// Makes a watch without names.
  ///
  /// - Parameter directories: the directories of the names. Their own removal is detected, too.
  public init(in directories: [String], on loop: EventLoop) throws(SystemError) {
    self.loop = loop
    self.directories = directories
    watch = try DirectoryWatch()
    registration = try loop.register(fd: watch.fd, interest: .read) { [weak self] _ in self?.handleEvents() }
  }

  deinit { if let registration { loop.deregister(registration) } }

  /// Adds names. The files to which they lead at the next ``remember()`` or the next change of a directory are the
  /// expected ones. For a name that is missing then, the next file with this name becomes the expected one.
  public func expect(_ paths: [String], _ expectation: Expectation = .same) {
    names += paths.map { ($0, expectation) }
  }

  /// Accepts the existing files as the expected ones, and watches the directories, which must exist. A lost name
  /// that ``missingFiles()`` has not reported yet, for example one lost during a repair, stays lost.
  public func remember() throws(SystemError) {
    repairAt = nil
    let changes = DirectoryWatch.Changes.names.union(.selfChanges)
    for directory in directories { _ = try watch.add(directory, changes) }
    let former = known
    known.removeAll()
    recordNewFiles()
    for (path, expectation) in names {
      guard let identity = former[path], !reported.contains(path), known[path] != identity else { continue }
      if expectation == .same || known[path] == nil { known[path] = identity }
    }
    reported.removeAll()
    if !missing().isEmpty { postpone() }
  }

  /// The names that do not lead to their expected files now. They count as reported from now on.
  public func missingFiles() -> [String] {
    let lost = missing()
    reported.formUnion(lost)
    return lost
  }

  private func missing() -> [String] {
    names.filter { path, expectation in
      guard let identity = known[path] else { return false }
      let present = file(at: path)
      return expectation == .any ? present == nil : present != identity
    }.map(\.path)
  }

  /// Schedules the restoration of lost files after a pause.
  public func postpone() { repairAt = SystemClock.monotonic() + Self.pause }

  /// Reads the changes of the directories, and reports lost names.
  private func handleEvents() {
    _ = try? watch.take()
    recordNewFiles()
    let lost = missingFiles()
    guard !lost.isEmpty else { return }
    if repairAt == nil { postpone() }
    onMissingFiles?(lost)
  }

  /// Records the files of names that have no expected file.
  private func recordNewFiles() {
    for (path, _) in names where known[path] == nil { known[path] = file(at: path) }
  }

  /// Identity of the file that has a name now; nil if there is none.
  private func file(at path: String) -> FileMetadata.Identity? {
    // If the file cannot be examined, keep its last known identity.
    do { return try FileMetadata.inspect(path, followLinks: false)?.identity } catch { return known[path] }
  }
}
