// Holds the watch over names to what it tells: at once which names are lost, a while later that it is time to make them
// again, and never anything while all of them lead where they did.
import Glibc
import Posix
import PosixFixture
import Testing
import Time

@Suite("A watch over names") struct NameWatchTests {
  private final class Watcher {
    let loop: EventLoop
    let watch: NameWatch
    /// What was told, call after call.
    var told: [[String]] = []

    init(_ directories: [String], same: [String], any: [String] = []) throws {
      loop = try EventLoop()
      watch = try NameWatch(in: directories, on: loop)
      watch.expect(same)
      watch.expect(any, .any)
      watch.onLoss = { [unowned self] in told.append($0) }
      try watch.remember()
    }

    /// Lets the kernel tell what has happened until `condition` holds.
    func wait(_ what: String, until condition: () -> Bool) throws {
      let deadline = SystemClock.monotonic() + .seconds(120)
      while !condition() {
        let now = SystemClock.monotonic()
        try #require(now < deadline, "\(what): it did not happen; told was \(told)")
        try loop.runOnce(until: now + .milliseconds(20))
      }
    }
  }

  private func write(_ path: String) throws {
    try FileDescriptor.open(path, [.writeOnly, .create, .exclusive], mode: 0o600).writeAll([1])
  }

  @Test(
    "a removed file is told at once, and is to be made again when whoever removes it has had time to finish")
  func removed() throws {
    let directory = try TemporaryDirectory()
    let (one, other) = (directory.file("one"), directory.file("other"))
    for path in [one, other] { try write(path) }
    let watcher = try Watcher([directory.path], same: [one, other])
    #expect(watcher.watch.losses() == [] && watcher.watch.repairAt == nil)
    let before = SystemClock.monotonic()
    unlink(one)
    try watcher.wait("the loss is told") { watcher.told == [[one]] }
    let due = try #require(watcher.watch.repairAt)
    #expect(due >= before + .milliseconds(500))
    // Another loss puts the first one off no further.
    unlink(other)
    try watcher.wait("the second loss is told") { watcher.told.last == [one, other] }
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
    try watcher.wait("the loss is told") { !watcher.told.isEmpty }
    #expect(watcher.told.allSatisfy { $0 == [socket] } && watcher.watch.losses() == [socket])
    unlink(log)
    try watcher.wait("a log that leads nowhere is lost, too") { watcher.told.last == [socket, log] }
  }

  @Test("what was taken for good anew is no loss any more, and its next loss is told")
  func remembered() throws {
    let directory = try TemporaryDirectory()
    let path = directory.file("one")
    try write(path)
    let watcher = try Watcher([directory.path], same: [path])
    unlink(path)
    try watcher.wait("the loss is told") { watcher.told == [[path]] }
    try write(path)
    try watcher.watch.remember()
    #expect(watcher.watch.repairAt == nil && watcher.watch.losses() == [])
    watcher.told = []
    unlink(path)
    try watcher.wait("the next loss is told") { watcher.told.contains([path]) }
  }

  @Test("what is removed in the midst of a repair is repaired next, and not forgotten")
  func duringRepair() throws {
    let directory = try TemporaryDirectory()
    let (one, other) = (directory.file("one"), directory.file("other"))
    for path in [one, other] { try write(path) }
    let watcher = try Watcher([directory.path], same: [one, other])
    unlink(one)
    try watcher.wait("the loss is told") { watcher.told == [[one]] }
    try write(one)
    unlink(other)
    try watcher.watch.remember()
    #expect(watcher.watch.repairAt != nil && watcher.watch.losses() == [other])
    // What was told and is not made again is given up: whoever looks after it has decided so.
    try watcher.watch.remember()
    #expect(watcher.watch.repairAt == nil && watcher.watch.losses() == [])
  }

  @Test("a name that leads nowhere yet is watched from the moment on in which it does")
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
    try watcher.wait("the loss is told") { watcher.told.contains([log]) }
  }

  @Test("a removed directory takes everything in it away, and is watched again when it was made again")
  func directory() throws {
    let place = try TemporaryDirectory()
    let run = place.file("run")
    let socket = Paths.join(run, "socket")
    try Directory.create(path: run)
    try write(socket)
    let watcher = try Watcher([place.path, run], same: [socket])
    unlink(socket)
    #expect(rmdir(run) == 0)
    try watcher.wait("the loss is told") { watcher.told.contains([socket]) }
    watcher.watch.putOff()
    #expect(try #require(watcher.watch.repairAt) > SystemClock.monotonic())
    try Directory.create(path: run)
    try write(socket)
    try watcher.watch.remember()
    watcher.told = []
    unlink(socket)
    try watcher.wait("the loss is told again") { watcher.told.contains([socket]) }
  }

  @Test("a file that cannot be looked at is not lost")
  func unseen() throws {
    let directory = try TemporaryDirectory()
    let (inner, aside) = (directory.file("inner"), directory.file("aside"))
    let path = Paths.join(inner, "one")
    try Directory.create(path: inner)
    try write(path)
    let watcher = try Watcher([directory.path], same: [path])
    // A link that leads to itself: whoever looks below it hears ELOOP.
    #expect(rename(inner, aside) == 0 && symlink("inner", inner) == 0)
    #expect(watcher.watch.losses() == [])
    unlink(inner)
    #expect(watcher.watch.losses() == [path])
  }
}
