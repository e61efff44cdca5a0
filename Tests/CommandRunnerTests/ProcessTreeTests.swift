// The end of a whole process tree. A sub-reaper is a whole process, so each test is one of its own.
import CommandRunner
import Glibc
import Posix
import PosixFixture
import Testing
import Time

@Suite struct ProcessTreeTests {
  /// Traps SIGTERM, forks twice, and one of them is in a session of its own, without a parent. Each prints
  /// its number.
  private static let stubborn = """
    trap '' TERM
    (trap '' TERM; setsid sh -c 'trap "" TERM; echo $$; while :; do sleep 600; done' & echo $!) &
    sh -c 'echo $$; while :; do sleep 600; done' &
    echo $$
    while :; do sleep 600; done
    """

  /// A process that is a sub-reaper, with a command whose tree has reported itself.
  private static func started(
    _ script: String, grace: TimeSpan, isReady: (String) -> Bool = { $0.contains("ready") }
  ) throws -> Run {
    try Subreaper.become()
    var order = shell(script)
    order.grace = grace
    let run = try Run(order, isAlone: true, adopts: { _ in true })
    try run.hears(isReady)
    return run
  }

  private static func pids(_ outcome: CommandOutcome) -> [pid_t] {
    outcome.output.text.split(separator: "\n").compactMap { pid_t($0) }
  }

  @Test("nothing is left of a job that traps SIGTERM, forks twice and calls setsid")
  func stubborn() async {
    let result = await #expect(processExitsWith: .success, observing: [\.standardOutputContent]) {
      var times: [Double] = []
      for _ in 1...20 {
        let run = try Self.started(Self.stubborn, grace: .zero) { $0.count { $0 == "\n" } == 4 }
        let start = SystemClock.monotonic()
        run.command.cancel(at: start)
        let outcome = try run.outcome()
        times.append(SystemClock.monotonic().since(start).inSeconds * 1000)
        #expect(outcome.ending == .signal(SIGKILL, coreDumped: false))
        #expect(outcome.leftBehind.isEmpty)
        #expect(Set(Self.pids(outcome)).count == 3)
        for pid in Self.pids(outcome) { #expect(!ProcessTable.alive(pid)) }
        #expect(!Subreaper.hasChildren)
      }
      times.sort()
      print("the end of a stubborn tree: median \(times[10]) ms, longest \(times[19]) ms")
    }
    tell(result)
  }

  @Test("the same in a group of its own: one call ends them, and they are reaped")
  func stubbornInGroup() async {
    let result = await #expect(processExitsWith: .success, observing: [\.standardOutputContent]) {
      guard let group = try? ControlGroup.own()?.subgroup("bank-tree-tests-\(getpid())"),
        group.acceptsProcesses
      else {
        return print("NOT CHECKED: the end of a tree in a group: none can be made here")
      }
      defer {
        group.kill()
        let isGone = try? eventually { group.remove() }
        #expect(isGone == true)
      }
      var times: [Double] = []
      for attempt in 1...20 {
        try Subreaper.become()
        var order = shell(Self.stubborn)
        let group = try group.subgroup("\(attempt)")
        (order.grace, order.program.group) = (.zero, group)
        let run = try Run(order, isAlone: true, adopts: { _ in true })
        try run.hears { $0.count { $0 == "\n" } == 4 }
        #expect(group.members.count >= 3 && !group.members.contains(getpid()))
        let start = SystemClock.monotonic()
        run.command.cancel(at: start)
        let outcome = try run.outcome()
        times.append(SystemClock.monotonic().since(start).inSeconds * 1000)
        #expect(outcome.ending == .signal(SIGKILL, coreDumped: false))
        #expect(run.command.hasEndedGroup && group.remove())
        #expect(outcome.leftBehind.isEmpty && !Subreaper.hasChildren)
        #expect(Set(Self.pids(outcome)).count == 3)
      }
      times.sort()
      print("the end of a stubborn tree in a group: median \(times[10]) ms, longest \(times[19]) ms")
    }
    tell(result)
  }

  @Test("processes that handle SIGTERM have the grace to end, and are waited for no longer than needed")
  func graceful() async {
    await #expect(processExitsWith: .success) {
      let run = try Self.started(
        "trap 'exit 9' TERM; (trap 'echo child; exit' TERM; echo ready; while :; do sleep 0.01; done) & wait",
        grace: .seconds(60))
      run.command.cancel(at: SystemClock.monotonic())
      let outcome = try run.outcome()
      #expect(outcome.ending == .code(9))
      #expect(outcome.output.text == "ready\nchild\n")
      #expect(!Subreaper.hasChildren)
    }
  }

  @Test("the exit of the runner does not wait for the descendants of a cancelled command")
  func exitDuringGrace() async {
    await #expect(processExitsWith: .success) {
      let run = try Self.started(
        "(trap '' TERM; echo ready; while :; do sleep 600; done) & wait", grace: .seconds(3_600))
      run.command.cancel(at: SystemClock.monotonic())
      var outcome: CommandOutcome?
      let hasExited = try eventually {
        try run.loop.runOnce(until: SystemClock.monotonic() + .milliseconds(10))
        outcome = run.command.runIteration(at: SystemClock.monotonic())
        return outcome != nil || kill(run.command.pid, 0) == -1
      }
      #expect(hasExited && outcome == nil, "the command itself has exited, and a descendant is left")
      run.command.end(at: SystemClock.monotonic())
      let ended = try run.outcome()
      #expect(ended.interruption == .cancel && ended.leftBehind.isEmpty)
      #expect(!Subreaper.hasChildren)
    }
  }

  @Test("processes left by a command are ended with it, even if it has succeeded")
  func leftBehind() async {
    await #expect(processExitsWith: .success) {
      try Subreaper.become()
      let run = try Run(
        shell("setsid sh -c 'echo $$; trap \"\" TERM; exec sleep 600' & read line"), isAlone: true,
        adopts: { _ in true })
      // The shell ends because its input does; its child may not have written yet.
      let outcome = try run.outcome()
      #expect(outcome.ending == .code(1) || outcome.ending == .code(0))
      for pid in Self.pids(outcome) { #expect(!ProcessTable.alive(pid)) }
      #expect(!Subreaper.hasChildren)
    }
  }

  @Test("a process that forks from session to session is caught")
  func runaway() async {
    let result = await #expect(processExitsWith: .success, observing: [\.standardOutputContent]) {
      let run = try Self.started(
        """
        exec perl -e 'use POSIX "setsid"; $| = 1; $SIG{TERM} = "IGNORE"; print "ready\\n";
        while (1) { my $p = fork; exit 0 if $p; setsid(); select(undef, undef, undef, 0.02); }'
        """, grace: .zero)
      let start = SystemClock.monotonic()
      run.command.cancel(at: start)
      let outcome = try run.outcome()
      print("the end of a runaway: \(SystemClock.monotonic().since(start).inSeconds * 1000) ms")
      #expect(outcome.leftBehind.isEmpty)
      #expect(!Subreaper.hasChildren)
    }
    tell(result)
  }

  @Test("many at once are ended, more than are watched at a time")
  func many() async {
    await #expect(processExitsWith: .success) {
      let run = try Self.started(
        "i=0; while [ $i -lt 400 ]; do (setsid sleep 600 &); i=$((i+1)); done; echo ready; sleep 600",
        grace: .zero)
      run.command.cancel(at: SystemClock.monotonic())
      #expect(try run.outcome().leftBehind.isEmpty)
      #expect(!Subreaper.hasChildren)
    }
  }

  @Test("a child that was started for another purpose is left alone")
  func spared() async {
    await #expect(processExitsWith: .success) {
      try Subreaper.become()
      let other = try ChildProcess.spawn(
        executable: "/bin/sleep", arguments: ["600"], environment: [:], newSession: true)
      defer { other.end() }
      let run = try Run(shell("sleep 600 & echo $!"), isAlone: true, adopts: { $0 != other.pid })
      let outcome = try run.outcome()
      #expect(outcome.ending == .code(0))
      #expect(Self.pids(outcome).allSatisfy { !ProcessTable.alive($0) })
      #expect(ProcessTable.alive(other.pid))
      #expect(Subreaper.children() == [other.pid])
    }
  }

  @Test("descendants that end in the background are reaped while the command continues")
  func collected() async {
    await #expect(processExitsWith: .success) {
      let run = try Self.started(
        "i=0; while [ $i -lt 20 ]; do (true &); i=$((i+1)); done; echo ready; read line; sleep 600",
        grace: .zero)
      #expect(
        try eventually {
          run.command.reapDescendants()
          return Subreaper.children() == [run.command.pid]
        })
      run.command.cancel(at: SystemClock.monotonic())
      _ = try run.outcome()
    }
  }

  @Test("processes that another one left to this process are ended without a root")
  func inherited() async {
    await #expect(processExitsWith: .success) {
      try Subreaper.become()
      let middle = try ChildProcess.spawn(
        executable: "/bin/sh", arguments: ["-c", "setsid sleep 600 & setsid sh -c 'sleep 600 & wait' &"],
        environment: ["PATH": path])
      _ = middle.wait()
      let loop = try EventLoop()
      let tree = ProcessTree(root: nil, on: loop, adopts: { _ in true })
      #expect(!tree.isGone)
      tree.end(grace: .zero, at: SystemClock.monotonic())
      let end = SystemClock.monotonic() + .seconds(120)
      while !tree.isGone, SystemClock.monotonic() < end {
        try loop.runOnce(until: MonotonicTime.earlier(tree.deadline, end))
        tree.runIteration(at: SystemClock.monotonic())
      }
      #expect(tree.isGone && tree.remaining.isEmpty)
      #expect(!Subreaper.hasChildren)
    }
  }
}
