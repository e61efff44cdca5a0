// The start of a command, and the meaning of its end for its customer, without a process.
import BankModel
import CommandRunner
import Glibc
import Posix
import PosixFixture
import Teller
import Testing
import Time
import Wire

@testable import CommandExecutor

@Suite struct CommandPlanTests {
  private let now = WallTime(milliseconds: 1_795_000_000_000)

  private func plan(
    _ script: String = "exit 0", timeout: Int64? = nil, home: String? = "/", own: EnvironmentVariables = [:],
    change: (inout CommandSettings) -> Void = { _ in }
  ) throws -> CommandPlan {
    let settings = settings(script, timeout: timeout, change: change)
    return CommandPlan(try #require(settings.command), service: settings.serviceName, home: home, own: own)
  }

  @Test("the environment is the service's, six variables of the bank, and those of the customer")
  func environment() throws {
    let own: EnvironmentVariables = [
      "PATH": "/own", "HOME": "/h", "TZ": "Asia/Seoul", "BANK_HOME": "/bank", "BANK_CONFIG": "c",
      "SECRET": "s",
    ]
    let plan = try plan(timeout: 1_500, own: own) {
      $0.environment = ["PATH=/bin", "A=b=c", "EMPTY=", "BANK_KEY=mine", "=x", "novalue"]
    }
    #expect(
      try plan.order(for: assignment(attempt: 2), at: now).program.environment == [
        "PATH": "/bin", "HOME": "/h", "TZ": "Asia/Seoul", "A": "b=c", "EMPTY": "", "BANK_KEY": "k",
        "BANK_ATTEMPT": "2", "BANK_TICKET": "7", "BANK_DAY": "3", "BANK_SERVICE": "thumbs",
        "BANK_DEADLINE": "2026-11-18T11:06:41.500Z",
      ])
  }

  @Test("without a timeout there is no deadline, and without a PATH the usual one")
  func leastEnvironment() throws {
    let variables = try plan { $0.environment = [] }.order(for: assignment(), at: now).program.environment
    #expect(variables["BANK_DEADLINE"] == nil)
    #expect(variables["PATH"] == ProgramSearch.usualPath)
    #expect(variables.map(\.key).filter { !$0.hasPrefix("BANK_") } == ["PATH"])
  }

  @Test("a customer without a key of the database has the day and the ticket as one")
  func key() throws {
    var customer = assignment()
    customer.order = nil
    #expect(try plan().order(for: customer, at: now).program.environment["BANK_KEY"] == "3-7")
  }

  @Test("the payload is the standard input, and an argument if the template has it")
  func words() throws {
    let plan = try plan { $0.words = ["sh", "-c", "--", "{payload}", "{key}", "x{key}"] }
    let order = try plan.order(for: assignment(payload: [0xff, 10]), at: now)
    #expect(order.program.words.suffix(3) == [[0xff, 10], bytes("k"), bytes("x{key}")])
    #expect(order.program.path == "/usr/bin/sh" || order.program.path == "/bin/sh")
    #expect(order.payload == [0xff, 10])
  }

  @Test("directory, limits, times and bounds are those of the orders")
  func bounds() throws {
    let plan = try plan(timeout: 2_000, home: "/usr") {
      $0.graceMilliseconds = 30
      $0.limits.memory = 1 << 30
      $0.limits.openFiles = -1
      ($0.resultBytes, $0.outputBytes, $0.outputDirectory) = (1_001, 5_000, "/out")
    }
    let order = try plan.order(for: assignment(), at: now)
    #expect(order.program.directory == "/usr")
    #expect(order.program.limits == [ResourceLimit(.memory, 1 << 30), ResourceLimit(.openFiles, 0)])
    #expect(order.timeout == .seconds(2) && order.grace == .milliseconds(30))
    #expect(order.output.first == 501 && order.output.last == CommandPlan.minimumTail)
    #expect(order.output.file == "/out/3/7.out" && order.errors.file == "/out/3/7.err")
    #expect(order.output.fileLength == 5_000)
    #expect(
      try self.plan(home: "/usr") { $0.directory = "/bin" }.order(for: assignment(), at: now).program
        .directory == "/bin")
    #expect(
      try self.plan { $0.outputDirectory = "/out" }.order(for: assignment(), at: now).output.file == nil)
  }

  private func unserved(_ plan: CommandPlan, payload: [UInt8]? = nil) throws -> WorkFailure {
    try #require(
      #expect(throws: CommandPlan.UnservableCustomer.self) {
        _ = try plan.order(for: assignment(payload: payload), at: now)
      }
    ).failure
  }

  @Test("an invalid command is refused with its fault, and a fault of the service pauses it")
  func refusals() throws {
    let missing = try unserved(try plan { $0.words = ["no-such-program-anywhere"] })
    #expect(missing.consequence == .pause && missing.processEnd == nil)
    #expect(missing.words.hasPrefix("no program \"no-such-program-anywhere\" in PATH="))
    let long = [UInt8](repeating: 97, count: CommandTemplate.longestArgument + 1)
    let template = try plan { $0.words = ["true", "{payload}"] }
    #expect(try unserved(template, payload: long).consequence == .never)
    #expect(
      try unserved(template, payload: [97, 0]).words == "a payload with a zero byte cannot be an argument")
    #expect(try unserved(try plan { $0.words = ["{payload}"] }).consequence == .pause)
    let mended = try plan {
      $0.words = ["no-such-program-anywhere"]
      $0.meanings = [CommandSettings.Meaning(code: 127, consequence: .never)]
    }
    #expect(try unserved(mended).consequence == .never)
    let served = try plan {
      $0.words = ["no-such-program-anywhere"]
      $0.meanings = [CommandSettings.Meaning(code: 127, consequence: nil)]
    }
    #expect(try unserved(served).consequence == .again, "what was not started is not done")
  }

  @Test("a command line that cannot be run is a dead letter, and no other customer waits for it")
  func commandLines() throws {
    let plan = try plan { $0.words = [] }
    #expect(try unserved(plan).words == "the payload is not a command line: it is empty")
    #expect(try unserved(plan, payload: bytes("x")).consequence == .never)
    #expect(
      try unserved(plan, payload: bytes(#"{"command":["no-such-program-anywhere"]}"#)).consequence == .never)
    let payload = bytes(
      #"{"command":["sh","{key}"],"directory":"/tmp","environment":{"PATH":"/bin","BANK_DAY":"x"}}"#)
    let order = try plan.order(for: assignment(payload: payload), at: now)
    #expect(order.program.path == "/bin/sh")
    #expect(order.program.words == [bytes("sh"), bytes("{key}")])
    #expect(order.program.directory == "/tmp")
    #expect(order.payload.isEmpty)
    #expect(
      order.program.environment.inOrder.map(\.key) == [
        "BANK_ATTEMPT", "BANK_DAY", "BANK_KEY", "BANK_SERVICE", "BANK_TICKET", "PATH",
      ])
    #expect(order.program.environment["BANK_DAY"] == "3")
  }

  // MARK: The end

  private func judge(
    _ ending: Posix.ExitStatus.Termination, _ interruption: CommandOutcome.Interruption? = nil,
    errors: String = "", output: String = "", resultBytes: Int64 = 100,
    change: (inout CommandSettings) -> Void = { _ in }
  ) throws -> ProvisionResult {
    func captured(_ text: String) -> CapturedOutput {
      CapturedOutput(first: bytes(text), length: Int64(text.utf8.count))
    }
    return try plan(timeout: 1_500) {
      $0.resultBytes = resultBytes
      change(&$0)
    }.classifier.provisionResult(
      of: CommandOutcome(
        ending: ending, duration: .milliseconds(3), interruption: interruption, output: captured(output),
        errors: captured(errors)))
  }

  @Test("each end has its meaning")
  func meanings() throws {
    typealias Consequence = WorkFailure.Consequence
    for (code, consequence) in [
      (1, Consequence.again), (64, .never), (65, .never), (75, .later), (126, .pause), (127, .pause),
    ] as [(Int32, Consequence)] {
      #expect(
        try judge(.code(code))
          == .failed(WorkFailure("exit code \(code)", consequence, processEnd: .code(code))))
    }
    #expect(
      try judge(.signal(SIGSEGV, coreDumped: true))
        == .failed(WorkFailure("killed by SIGSEGV (core dumped)", .crash, processEnd: .signal(SIGSEGV))))
    #expect(
      try judge(.code(0), .timeout)
        == .failed(WorkFailure("took longer than 1500ms", .again, processEnd: .code(0))))
    #expect(try judge(.unknown) == .failed(WorkFailure("ended; exit status unknown", .crash)))
    #expect(try judge(.signal(SIGTERM, coreDumped: false), .cancel) == .returned)
    #expect(try judge(.code(0)) == .worked(WorkResult(ending: .code(0), duration: .milliseconds(3))))
  }

  @Test("a service can change the meanings")
  func otherMeanings() throws {
    func change(_ settings: inout CommandSettings) {
      typealias Meaning = CommandSettings.Meaning
      settings.meanings = [
        Meaning(code: 3, consequence: nil), Meaning(code: 0, consequence: .never),
        Meaning(code: Meaning.others, consequence: .later),
        Meaning(code: Meaning.signals, consequence: .never),
        Meaning(code: Meaning.timeouts, consequence: .crash), Meaning(code: 999, consequence: nil),
      ]
    }
    #expect(
      try judge(.code(3), change: change) == .worked(WorkResult(ending: .code(3), duration: .milliseconds(3)))
    )
    let other = try judge(.code(9), change: change)
    #expect(other == .failed(WorkFailure("exit code 9", .later, processEnd: .code(9))))
    for (ending, interruption, consequence) in [
      (.code(0), nil, .never), (.signal(SIGKILL, coreDumped: false), nil, .never),
      (.code(1), .timeout, .crash),
    ] as [(Posix.ExitStatus.Termination, CommandOutcome.Interruption?, WorkFailure.Consequence)] {
      guard case .failed(let failure) = try judge(ending, interruption, change: change) else {
        Issue.record("\(ending)")
        continue
      }
      #expect(failure.consequence == consequence)
    }
  }

  @Test("a failure ends with the last lines of standard error, or else of the output")
  func lastLines() throws {
    func words(errors: String = "", output: String = "") throws -> String {
      guard case .failed(let failure) = try judge(.code(3), errors: errors, output: output) else { return "" }
      return failure.words
    }
    #expect(try words(errors: "a\nb\n\n", output: "o\n") == "exit code 3\na\nb")
    #expect(try words(output: "o\r\n") == "exit code 3\no")
    #expect(try words(errors: "\u{1b}[31mred\u{7}\tx") == "exit code 3\n\u{fffd}[31mred\u{fffd}\tx")
    let many = (1...100).map { "line \($0)" }.joined(separator: "\n")
    #expect(try words(errors: many).split(separator: "\n").count == 21)
    #expect(try words(errors: many).hasSuffix("\nline 100"))
    let long = String(repeating: "x", count: 5_000)
    #expect(try words(errors: long).utf8.count == Attempt.maxFailureTextBytes)
    #expect(try words(errors: long).hasPrefix("exit code 3\nxxx"))
    #expect(try words(errors: long + "\nthe end") == "exit code 3\nthe end")
  }

  @Test("bytes that are not text never make the message longer than allowed")
  func noText() throws {
    let stream = CapturedOutput(first: [UInt8](repeating: 0xff, count: 4_000), length: 4_000)
    let lines = ExitClassifier.lastLines(of: stream, atMost: 100)
    #expect(lines.utf8.count <= 100 && lines.utf8.count > 90)
    #expect(ExitClassifier.lastLines(of: stream, atMost: 0).isEmpty)
  }

  @Test(
    "of a stream that is too long the first and the last half are kept",
    arguments: [0, 1, 2, 99, 100, 101, 5_000])
  func excerpts(length: Int) throws {
    let classifier = try plan {
      $0.resultBytes = 100
    }.classifier
    let all = (0..<length).map { UInt8(truncatingIfNeeded: $0) }
    // As it is captured: 50 of the first, and more of the last than needed.
    let (first, last) = (Array(all.prefix(50)), Array(all.dropFirst(50).suffix(2_048)))
    let stream = CapturedOutput(
      first: first, last: last, length: Int64(length), fileLength: Int64(min(length, 3_000)))
    let excerpt = classifier.excerpt(of: stream)
    #expect(excerpt.length == Int64(length))
    if length <= 100 {
      #expect(excerpt.bytes == all && excerpt.filed == 0)
    } else {
      #expect(excerpt.first == Array(all.prefix(50)) && excerpt.last == Array(all.suffix(50)))
      #expect(excerpt.filed == Int64(min(length, 3_000)))
    }
  }
}
