// The coordinator's side of being guarded: guardians that die young, one after the other. The guardian is a program that
// ends at once; the pauses between two of them are handed in as time that has passed.
import Glibc
import Logbook
import Posix
import Testing
import Time

@testable import Coordinator

@Suite("The tie to the guardian", .serialized)
struct GuardianshipTests {
  /// A coordinator's tie in a home that vanishes with it.
  private final class Tie {
    let guardianship: Guardianship
    private let home: BankHome
    private let loop: EventLoop
    private let logFile: LogFile

    init(guardian program: String) throws {
      var template = Array("/tmp/bank-tie-XXXXXX".utf8CString)
      home = BankHome(
        template.withUnsafeMutableBufferPointer { mkdtemp($0.baseAddress!).map { String(cString: $0) } ?? "" }
      )
      try #require(home.path != "", "no directory could be made")
      try home.prepare()
      loop = try EventLoop()
      logFile = try LogFile(
        path: home.log(of: "coordinator"), worker: "coordinator", generation: 1, limit: 1 << 20, keep: 1)
      // The process that is named here is not the parent of this one, so that the tie begins without a guardian.
      let options = try CoordinatorOptions(["--home", home.path, "--guardian", "\(getpid())"])
      guardianship = Guardianship(
        home, options, lock: try HomeLock(home), loop: loop, log: logFile,
        pulse: Pulse(home, nil, isGuarded: false, patience: .seconds(10), loop: loop), executable: program)
    }

    deinit {
      for directory in [home.run, home.logs, home.path] {
        for name in (try? Directory.entries(of: directory)) ?? [] { unlink(Paths.join(directory, name)) }
      }
      for directory in [home.run, home.logs, home.path] { rmdir(directory) }
    }

    /// The events of this name in the log.
    func count(_ event: String) throws -> Int {
      logFile.flush()
      let file = try FileDescriptor.open(home.log(of: "coordinator"), .readOnly)
      return String(decoding: try file.readAll(), as: UTF8.self).split(separator: "\n").count {
        $0.contains("event=\(event) ") || $0.hasSuffix("event=\(event)")
      }
    }

    /// Lets the end of a guardian be seen, or the pause pass that comes before the next one.
    ///
    /// - Returns: how long the pause was; nil while there is a guardian.
    func turn() throws -> TimeSpan? {
      guard guardianship.pid == nil else {
        try loop.runOnce(until: SystemClock.monotonic() + .seconds(1))
        return nil
      }
      let due = try #require(guardianship.nextDeadline, "nobody comes any more")
      var moment = loop.moment()
      let pause = due.since(moment.monotonic)
      moment.monotonic = max(moment.monotonic, due)
      guardianship.keepTime(moment)
      return pause
    }
  }

  @Test(
    "however many guardians die young, there is always another one after a bounded pause, and the log says so",
    arguments: ["/bin/false", "/nobody/has/this/program"])
  func dieYoung(program: String) throws {
    let tie = try Tie(guardian: program)
    tie.guardianship.begin()
    var pauses: [TimeSpan] = []
    let deadline = SystemClock.monotonic() + .seconds(60)
    while pauses.count < 30 {
      if let pause = try tie.turn() { pauses.append(pause) }
      try #require(SystemClock.monotonic() < deadline, "\(pauses.count) have died")
    }
    #expect(pauses.allSatisfy { $0 <= .seconds(1) }, "\(pauses)")
    #expect(pauses.suffix(10).allSatisfy { $0 > .milliseconds(400) }, "they are slowed down: \(pauses)")
    #expect(try tie.count("guardian_lost") >= 30)
    #expect(try tie.count("guardian_missing") >= 20, "from the tenth on it is told as an error")
  }
}
