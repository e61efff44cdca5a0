// The commands that start a coordinator, with shell scripts as coordinators: each sends what a test has
// written down, as soon as it has received as many bytes as the client's messages have.
import BankModel
import ControlClient
import Glibc
import Posix
import Testing
import Time
import Wire

@testable import BankctlCommands

/// A coordinator's program written in shell.
private final class Script {
  let directory = "/tmp/bank-script-\(CurrentProcess.pid)-\(RandomSeed.fromSystem())"
  var launcher: BankLauncher { BankLauncher(program: directory + "/bankd") }

  /// Sends each answer after the client's messages before it; then ends with this code.
  init(_ turns: [(after: [ClientMessage], says: [BankMessage])], exit: Int = 0) throws {
    try Directory.create(path: directory)
    var lines = ["#!/bin/sh", "echo $$ >> \(directory)/pids"]
    for (index, turn) in turns.enumerated() {
      var heard: [UInt8] = []
      for message in turn.after { try FrameEncoder().append(message, to: &heard, limit: FrameLimits.control) }
      var said: [UInt8] = []
      for message in turn.says { try FrameEncoder().append(message, to: &said, limit: FrameLimits.control) }
      try write("said-\(index)", said)
      if !heard.isEmpty { lines.append("head -c \(heard.count) <&3 > \(directory)/heard-\(index)") }
      lines.append("cat \(directory)/said-\(index) >&3")
    }
    lines.append("exit \(exit)")
    try write("bankd", Array((lines.joined(separator: "\n") + "\n").utf8), mode: 0o700)
  }

  private func write(_ name: String, _ bytes: [UInt8], mode: mode_t = 0o600) throws {
    let file = try FileDescriptor.open(directory + "/" + name, [.writeOnly, .create], mode: mode)
    try file.writeAll(bytes)
    try file.close()
  }

  /// Collects the script's processes and removes everything. An uncollected child would keep tests that watch
  /// a process end from receiving the end of theirs.
  func end() {
    let bytes = (try? FileDescriptor.open(directory + "/pids", .readOnly).readAll(limit: 4096)) ?? []
    for pid in String(decoding: bytes, as: UTF8.self).split(separator: "\n").compactMap({ pid_t($0) }) {
      let until = SystemClock.monotonic() + .seconds(120)
      while waitpid(pid, nil, WNOHANG) == 0 {
        if SystemClock.monotonic() > until { kill(pid, SIGKILL) }
        _ = poll(nil, 0, 2)
      }
    }
    Directory.removeTree(directory)
  }

  /// A home in which nothing exists yet; a guardian creates files for itself there.
  var home: BankHome { BankHome(path: directory + "/home") }
}

private let hello = ClientMessage.hello(Hello(build: ControlConnection.build, role: .client))
private let welcome = BankMessage.welcome(Welcome(build: "script"))

private func request(_ number: UInt32, _ command: ControlCommand) -> ClientMessage {
  .request(ControlRequest(number: number, command: command))
}

private func reply(_ number: UInt32, _ answer: ControlAnswer) -> BankMessage {
  .reply(ControlReply(number: number, answer: answer))
}

private let elsewhere = BankHome(path: "/tmp/no-bank-\(RandomSeed.fromSystem())")

@Test("start prints the windows with their pids once they are ready")
func start() throws {
  let script = try Script([
    ([hello], [welcome]), ([request(1, .awaitOpen)], [reply(1, .status(picture()))]),
  ])
  defer { script.end() }
  let ran = try run(["start"], home: elsewhere, launcher: script.launcher)
  #expect(ran.exit == .done)
  #expect(ran.lines.dropFirst() == ["  deposit-1  pid 4243", "  loan-1     backing off"])
  #expect(
    try run(["start", "--json"], home: elsewhere, launcher: script.launcher).output
      == JSONValue.status(picture()).text + "\n")
}

@Test(
  "start that is refused has the exit code of the refusal",
  arguments: [
    (.alreadyOpen, 5), (.damaged, 1), (.badConfiguration, 2), (.startFailed, 1), (.inspected, 75),
  ]
    as [(Failure.Code, Int32)])
func refusedStart(code: Failure.Code, exit: Int32) throws {
  let script = try Script([
    ([hello], [welcome]), ([request(1, .awaitOpen)], [reply(1, .failure(Failure(code, subject: "42")))]),
  ])
  defer { script.end() }
  for words in [["start"], ["start", "--foreground"]] {
    let ran = try run(words + ["--json"], home: script.home, launcher: script.launcher)
    #expect(ran.exit.rawValue == exit && ran.output.contains("\"code\":\"\(code.name)\""))
  }
}

@Test("a coordinator that ends without an answer is reported with its end")
func endsEarly() throws {
  let script = try Script([([hello], [welcome])], exit: 7)
  defer { script.end() }
  let ran = try run(["start", "--json"], home: elsewhere, launcher: script.launcher)
  #expect(ran.exit == .failed && ran.output.contains("coordinator_exited") && ran.output.contains("code 7"))
}

private func event(_ phase: AttemptEvent.CustomerEvent, _ ticket: Int64) -> ControlAnswer {
  .event(
    AttemptEvent(
      phase: phase, at: 1_795_248_000_000, day: 1, ticket: ticket, service: .loan, priority: .regular,
      window: "loan-1", attempt: 1))
}

@Test("open of a bank that is already open is exit code 5")
func openTwice() throws {
  let script = try Script([
    ([hello], [welcome]),
    (
      [request(1, .follow), request(2, .awaitOpen)],
      [reply(2, .failure(Failure(.alreadyOpen, subject: "42")))]
    ),
  ])
  defer { script.end() }
  #expect(try run(["open"], home: elsewhere, launcher: script.launcher).exit == .refused)
}

@Test("open lives through a day, with the closing message as its last line")
func day() throws {
  let stopped = StoppedReport(
    day: 1, served: 1, businessMilliseconds: 1_100, waiting: 0, dead: 0, isDayClosed: true)
  let script = try Script([
    ([hello], [welcome]), ([request(1, .follow), request(2, .awaitOpen)], [reply(2, .status(picture()))]),
    ([], [reply(1, event(.started, 1)), reply(1, event(.completed, 1))]),
  ])
  defer { script.end() }
  let branch = try FakeBranch { command, _ in
    switch command {
    case .enqueue: [.answer(.enqueued(EnqueuedReport(day: 1, first: 1, last: 1, count: 1)))]
    default: [.answer(.stopped(stopped)), .hangUp]
    }
  }
  defer { branch.end() }
  let ran = try run(
    ["open", "--customers", "1", "--seed", "5"], home: branch.home, language: .korean,
    launcher: script.launcher)
  #expect(
    ran
      == CommandRun(
        exit: .done,
        output: """
          1번 고객 대출업무 시작
          1번 고객 대출업무 완료
          업무가 마감되었습니다. 오늘 업무를 처리한 고객은 총 1명이며, 총 업무시간은 1.10초입니다.

          """))
  #expect(
    branch.heard == [
      .enqueue(OpenCommand.customers(1, seed: 5)),
      .stop(StopParameters(now: false, timeoutMilliseconds: nil)),
    ])
}

@Test("refused customers end the day with the reason, and the bank is closed")
func refusedDay() throws {
  let stopped = StoppedReport(
    day: 1, served: 0, businessMilliseconds: 0, waiting: 0, dead: 0, isDayClosed: true)
  let script = try Script([
    ([hello], [welcome]), ([request(1, .follow), request(2, .awaitOpen)], [reply(2, .status(picture()))]),
  ])
  defer { script.end() }
  let branch = try FakeBranch { command, _ in
    switch command {
    case .enqueue: [.answer(.failure(Failure(.queueFull)))]
    default: [.answer(.stopped(stopped)), .hangUp]
    }
  }
  defer { branch.end() }
  let ran = try run(["open", "--json"], home: branch.home, launcher: script.launcher)
  #expect(ran.exit == .later && ran.output.contains("queue_full"))
  #expect(branch.heard.last == .stop(StopParameters(now: true, timeoutMilliseconds: nil)))
}

@Test("a coordinator that dies in the middle of a day ends it with an error")
func deadDay() throws {
  let script = try Script(
    [
      ([hello], [welcome]), ([request(1, .follow), request(2, .awaitOpen)], [reply(2, .status(picture()))]),
    ], exit: 3)
  defer { script.end() }
  let branch = try FakeBranch { _, _ in [.hangUp] }
  defer { branch.end() }
  let ran = try run(["open", "--json"], home: branch.home, launcher: script.launcher)
  #expect(ran.exit == .failed && ran.lines.last?.contains("coordinator_exited") == true, "\(ran)")
}

@Test("a bank in the foreground that was closed by another client ends without an error")
func foreground() throws {
  let script = try Script([
    ([hello], [welcome]), ([request(1, .awaitOpen)], [reply(1, .status(picture()))]),
  ])
  defer { script.end() }
  let ran = try run(["start", "--foreground", "--json"], home: script.home, launcher: script.launcher)
  #expect(ran == CommandRun(exit: .done, output: JSONValue.status(picture()).text + "\n"))
}

@Test("questions that change nothing are sent to a home that is not open")
func inspect() throws {
  let clean = AuditReport(
    issued: 1, served: 1, cancelled: 0, waiting: 0, delayed: 0, dead: 0, lost: 0, duplicated: 0,
    ledgerDifference: 0, problems: [])
  let script = try Script([([hello], [welcome]), ([request(1, .audit)], [reply(1, .audit(clean))])])
  defer { script.end() }
  #expect(
    try run(["audit", "--json"], home: elsewhere, launcher: script.launcher).output
      == JSONValue.audit(clean).text + "\n")
  let nothing = try Script([
    ([hello], [welcome]), ([request(1, .audit)], [reply(1, .failure(Failure(.notOpen)))]),
  ])
  defer { nothing.end() }
  #expect(try run(["audit"], home: elsewhere, launcher: nothing.launcher).exit == .notOpen)
}
