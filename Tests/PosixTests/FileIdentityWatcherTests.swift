// The watch over file names: it reports at once which names are lost, and a while later that they should be
// created again. It reports nothing while all of them lead to the same files.
import Glibc
import Posix
import PosixFixture
import Testing
import Time

@Suite("A watch over names") struct FileIdentityWatcherTests {
  private final class Watcher {
    let loop: EventLoop
    let watch: FileIdentityWatcher
    /// The reports, call after call.
    var told: [[String]] = []

    init(_ directories: [String], same: [String], any: [String] = []) throws {
      loop = try EventLoop()
      watch = try FileIdentityWatcher(in: directories, on: loop)
      watch.expect(same)
      watch.expect(any, .any)
      watch.onMissingFiles = { [unowned self] in told.append($0) }
      try watch.remember()
    }

    /// Handles the kernel's events until `condition` holds.
    func wait(_ what: String, until condition: () -> Bool) throws {
      let deadline = SystemClock.monotonic() + .seconds(120)
      while !condition() {
        let now = SystemClock.monotonic()
        try #require(now < deadline, "\(what): it did not happen; reported: \(told)")
        try loop.runOnce(until: now + .milliseconds(20))
      }
    }
  }

  private func write(_ path: String) throws {
    try FileDescriptor.open(path, [.writeOnly, .create, .exclusive], mode: 0o600).writeAll([1])
  }

  @Test(
    "a removed file is reported at once, and its repair later, after the remover had time")
  func removed() throws {
    let directory = try TemporaryDirectory()
    let (one, other) = (directory.file("one"), directory.file("other"))
    for path in [one, other] { try write(path) }
    let watcher = try Watcher([directory.path], same: [one, other])
    #expect(watcher.watch.missingFiles() == [] && watcher.watch.repairAt == nil)
    let before = SystemClock.monotonic()
    unlink(one)
    try watcher.wait("the loss is reported") { watcher.told == [[one]] }
    let due = try #require(watcher.watch.repairAt)
    #expect(due >= before + .milliseconds(500))
    // Another loss postpones the first one no further.
    unlink(other)
    try watcher.wait("the second loss is reported") { watcher.told.last == [one, other] }
    #expect(watcher.watch.repairAt == due)
  }

  @Test("another file in its place is a loss, but not for a name that may lead to any file")
  func replaced() throws {
    let directory = try TemporaryDirectory()
    let (socket, log) = (directory.file("socket"), directory.file("log"))
    for path in [socket, log] { try write(path) }
    let watcher = try Watcher([directory.path], same: [socket], any: [log])
    for path in [log, socket] {
      try write(path + ".new")
      #expect(rename(path + ".new", path) == 0)
    }
    try watcher.wait("the loss is reported") { !watcher.told.isEmpty }
    #expect(watcher.told.allSatisfy { $0 == [socket] } && watcher.watch.missingFiles() == [socket])
    unlink(log)
    try watcher.wait("a log that leads nowhere is lost, too") { watcher.told.last == [socket, log] }
  }

  @Test("a name accepted again is not lost any more, and its next loss is reported")
  func remembered() throws {
    let directory = try TemporaryDirectory()
    let path = directory.file("one")
    try write(path)
    let watcher = try Watcher([directory.path], same: [path])
    unlink(path)
    try watcher.wait("the loss is reported") { watcher.told == [[path]] }
    try write(path)
    try watcher.watch.remember()
    #expect(watcher.watch.repairAt == nil && watcher.watch.missingFiles() == [])
    watcher.told = []
    unlink(path)
    try watcher.wait("the next loss is reported") { watcher.told.contains([path]) }
  }

  @Test("a file removed during a repair is repaired next, and not forgotten")
  func duringRepair() throws {
    let directory = try TemporaryDirectory()
    let (one, other) = (directory.file("one"), directory.file("other"))
    for path in [one, other] { try write(path) }
    let watcher = try Watcher([directory.path], same: [one, other])
    unlink(one)
    try watcher.wait("the loss is reported") { watcher.told == [[one]] }
    try write(one)
    unlink(other)
    try watcher.watch.remember()
    #expect(watcher.watch.repairAt != nil && watcher.watch.missingFiles() == [other])
    // A reported name that is not created again is given up: its owner has decided so.
    try watcher.watch.remember()
    #expect(watcher.watch.repairAt == nil && watcher.watch.missingFiles() == [])
  }

  @Test("a name that leads nowhere yet is watched from the moment in which it does")
  func newcomer() throws {
    let directory = try TemporaryDirectory()
    let (log, other) = (directory.file("log"), directory.file("other"))
    let watcher = try Watcher([directory.path], same: [log])
    try write(other)
    #expect(try watcher.loop.runOnce(until: SystemClock.monotonic() + .seconds(120)) > 0)
    #expect(watcher.told == [] && watcher.watch.repairAt == nil)
    try write(log)
    #expect(try watcher.loop.runOnce(until: SystemClock.monotonic() + .seconds(120)) > 0)
    unlink(log)
    try watcher.wait("the loss is reported") { watcher.told.contains([log]) }
  }

  @Test("a removed directory takes its entries away, and is watched again when it was created again")
  func directory() throws {
    let place = try TemporaryDirectory()
    let run = place.file("run")
    let socket = Paths.join(run, "socket")
    try Directory.create(path: run)
    try write(socket)
    let watcher = try Watcher([place.path, run], same: [socket])
    unlink(socket)
    #expect(rmdir(run) == 0)
    try watcher.wait("the loss is reported") { watcher.told.contains([socket]) }
    watcher.watch.postpone()
    #expect(try #require(watcher.watch.repairAt) > SystemClock.monotonic())
    try Directory.create(path: run)
    try write(socket)
    try watcher.watch.remember()
    watcher.told = []
    unlink(socket)
    try watcher.wait("the loss is reported again") { watcher.told.contains([socket]) }
  }

  @Test("a file that cannot be examined is not lost")
  func unknown() throws {
    let directory = try TemporaryDirectory()
    let (inner, aside) = (directory.file("inner"), directory.file("aside"))
    let path = Paths.join(inner, "one")
    try Directory.create(path: inner)
    try write(path)
    let watcher = try Watcher([directory.path], same: [path])
    // A link that leads to itself: a look below it gets ELOOP.
    #expect(rename(inner, aside) == 0 && symlink("inner", inner) == 0)
    #expect(watcher.watch.missingFiles() == [])
    unlink(inner)
    #expect(watcher.watch.missingFiles() == [path])
  }
}
