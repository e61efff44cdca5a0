// A guardian that did not run for long: the coordinator's messages are handled before it is judged, even if
// one poll of the loop does not return all of them.
import Glibc
import Posix
import Supervision
import Testing
import Time

@testable import Guardian

@Suite("Before a coordinator is judged", .serialized)
struct SilenceTimeoutTests {
  /// A guardian in a home that is removed with it, with a process that sleeps instead of a coordinator.
  private final class Watch {
    let guardian: Guardian
    let home: String
    private var mask = sigset_t()

    init() throws {
      var template = Array("/tmp/bank-guard-XXXXXX".utf8CString)
      home = template.withUnsafeMutableBufferPointer {
        mkdtemp($0.baseAddress!).map { String(cString: $0) } ?? ""
      }
      try #require(home != "", "no directory could be created")
      // A guardian leaves its signals blocked, and the process of the tests continues.
      pthread_sigmask(SIG_BLOCK, nil, &mask)
      guardian = try Guardian(
        Guardian.Order(home: home, program: "/bin/sh", words: ["-c", "exec sleep 600"]))
      guardian.begin(channel: nil)
    }

    deinit {
      if let coordinator = guardian.coordinator {
        if case .started(let child) = coordinator.process { child.end() }
      }
      pthread_sigmask(SIG_SETMASK, &mask, nil)
      for directory in ["/run", "/logs", ""] {
        for name in (try? Directory.entries(of: home + directory)) ?? [] {
          unlink("\(home)\(directory)/\(name)")
        }
      }
      for directory in ["/run", "/logs", ""] { rmdir(home + directory) }
    }

    /// True if the guardian has found its coordinator stuck.
    var hasJudged: Bool { guardian.coordinator?.killAt != nil }
  }

  @Test(
    "a coordinator with a message is not taken for stuck, however long the queue; a silent one is",
    arguments: [true, false])
  func heardFirst(hasSpoken: Bool) throws {
    let watch = try Watch()
    let guardian = watch.guardian
    let pid = try #require(guardian.coordinator?.pid, "no process was started")
    // Stopped, so that a silent one is judged at the first look.
    guardian.coordinator?.kill(SIGSTOP)
    var seen = siginfo_t()
    try #require(waitid(P_PID, id_t(pid), &seen, CInt(WSTOPPED) | CInt(WNOWAIT)) == 0)
    try #require(ProcessTable.activity(of: pid)?.state == .stopped)
    // More than one poll of the loop returns is ready, and only then the coordinator's message comes.
    var pipes: [CInt] = []
    defer { pipes.forEach { close($0) } }
    var heard: Set<Int> = []
    let count = 300
    for place in 0..<count {
      var ends: [CInt] = [0, 0]
      try #require(pipe(&ends) == 0)
      pipes += ends
      try #require(write(ends[1], "x", 1) == 1)
      _ = try guardian.loop.register(fd: ends[0], interest: .read) { [unowned guardian] _ in
        heard.insert(place)
        if heard.count == count { guardian.finish(.closed) }
      }
    }
    if hasSpoken {
      let word = ServiceMessage().with("MAINPID", "\(pid)").withHeartbeat(1, patience: .seconds(3_600))
      #expect(try Datagrams.send(word.bytes, to: guardian.home.socket) == .sent)
    }
    // It was silent for longer than allowed.
    let long = MonotonicTime(nanoseconds: guardian.loop.moment().listeningTime.nanoseconds - 1_000_000_000)
    guardian.coordinator?.stallDetector = StallDetector(patience: .milliseconds(100), at: long)
    _ = try guardian.run()
    #expect(watch.hasJudged == !hasSpoken)
  }
}
