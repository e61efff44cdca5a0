// The output for people and scripts of a bank whose database several branches share, against a coordinator of
// the test; and how its commands are refused in a bank with its database in its home.
import Arguments
import BankModel
import ControlClient
import Posix
import Testing
import Wire

@testable import Configuration
@testable import BankctlCommands

@Suite("A bank with several branches") struct BranchesTests {
  private static let branches = [
    BranchReport(
      number: 1, name: "seoul", host: "db-1.example.org", epoch: 3, state: .open, leaseMilliseconds: 3_100,
      windows: 4, served: 120, rate: 12_500, commits: 77, isThis: true),
    BranchReport(
      number: 2, name: "부산", host: "web-7.branches.internal.example.org", epoch: 12, state: .expired,
      leaseMilliseconds: 0, windows: 8, served: 12_345_678, rate: 0, commits: 1_234_567),
    BranchReport(
      number: 13, name: "jeju", host: "", epoch: 1, state: .closed, leaseMilliseconds: 0, windows: 0,
      served: 0,
      commits: 4),
  ]

  @Test("a day is left open without a failure only for juices that closed branches would have to make")
  func leavesServable() {
    func isLeft(waiting: Int64, juices: [Int64?]) -> Bool {
      var branches: [BranchReport]? = juices.enumerated().map { place, juices in
        BranchReport(
          number: Int64(place), name: "b\(place)", host: "", epoch: 1, state: .closed, leaseMilliseconds: 0,
          windows: 0, served: 0, commits: 0, juices: juices)
      }
      if juices.isEmpty { branches = nil }
      var report = StoppedReport(
        day: 1, served: 0, businessMilliseconds: 0, waiting: waiting, dead: 0, isDayClosed: false)
      report.branches = branches
      return report.leavesServable
    }
    #expect(!isLeft(waiting: 0, juices: []) && isLeft(waiting: 1, juices: []))
    #expect(!isLeft(waiting: 3, juices: [2, 1]) && isLeft(waiting: 4, juices: [2, 1]))
    #expect(isLeft(waiting: 1, juices: [nil]) && isLeft(waiting: .max, juices: [.max, 1]))
  }

  private func lines(_ language: Language, columns: Int?, _ branches: [BranchReport] = branches) -> [String] {
    BranchesRenderer(
      branches: branches, messages: MessageCatalog(language: language), palette: .none, columns: columns
    ).lines
  }

  /// A bank that answers like one with several branches.
  private func withBank(
    _ script: @escaping @Sendable (ControlCommand) -> ControlAnswer, _ body: (FakeBranch) throws -> Void
  ) throws {
    let branch = try FakeBranch { command, _ in [.answer(script(command))] }
    defer { branch.end() }
    try body(branch)
  }

  // MARK: - branches

  @Test("branches has the shape of the contract, letter by letter")
  func shape() throws {
    try withBank({ _ in .branches(Array(Self.branches.prefix(2))) }) { bank in
      let ran = try run(["branches", "--json"], home: bank.home)
      #expect(ran.exit == .done && bank.heard == [.branches])
      #expect(
        ran.output == """
          {"version":1,"branches":[{"branch":1,"host":"db-1.example.org","epoch":3,"state":"open","lease_ms":3100,\
          "windows":4,"served":120,"name":"seoul","served_per_second":12.5,"commits":77,"is_self":true},\
          {"branch":2,"host":"web-7.branches.internal.example.org","epoch":12,"state":"expired","lease_ms":0,\
          "windows":8,"served":12345678,"name":"부산","served_per_second":0,"commits":1234567,"is_self":false}]}

          """)
    }
    #expect(JSONValue.branches([]).text == #"{"version":1,"branches":[]}"#)
    #expect(JSONValue.branches([Self.branches[2]]).text.contains(#""state":"closed","lease_ms":0"#))
    #expect(JSONValue.branches([Self.branches[2]]).text.contains(#""served_per_second":null"#))
  }

  @Test("the table, as wide as it needs away from a terminal")
  func table() {
    #expect(
      lines(.english, columns: nil) == [
        "3 branches, 1 open · served 12,345,798 · 12 a second",
        " #  name   host                                 epoch  state    lease  windows      served   /s    commits",
        "*1  seoul  db-1.example.org                         3  open     3.1 s        4         120   12         77",
        " 2  부산   web-7.branches.internal.example.org     12  expired      -        8  12,345,678  0.0  1,234,567",
        "13  jeju   -                                        1  closed       -        0           0    -          4",
        "* this branch",
      ])
    let korean = lines(.korean, columns: nil)
    #expect(korean[0] == "지점 3곳, 영업 중 1곳 · 완료 12,345,798 · 초당 12")
    #expect(korean[1].hasPrefix("번호  이름") && korean[3].contains("만료") && korean.last == "* 이 지점")
  }

  @Test("on 80 columns each branch is one line, whose numbers are whole", arguments: Language.allCases)
  func fits(language: Language) {
    let usual = Self.branches.map { branch in
      var branch = branch
      (branch.served, branch.commits) = (min(branch.served, 1_345_678), min(branch.commits, 99_999))
      return branch
    }
    for columns in [80, 100, 132] {
      let lines = lines(language, columns: columns, usual)
      #expect(lines.count == 6 && lines.allSatisfy { DisplayWidth.of($0) <= columns }, "\(lines)")
      #expect(lines[3].contains("1,345,678") && lines[3].contains("99,999"))
    }
    let many = lines(language, columns: 80)
    #expect(many.allSatisfy { DisplayWidth.of($0) <= 80 } && many.joined().contains("12,345,678"))
    #expect(lines(language, columns: 40).allSatisfy { DisplayWidth.of($0) <= 40 })
  }

  @Test("a name cannot control a terminal")
  func names() {
    var branch = Self.branches[0]
    (branch.name, branch.host) = ("a\u{1B}[2J\nb", "\u{202E}x")
    #expect(
      lines(.english, columns: 80, [branch]).joined().unicodeScalars.allSatisfy {
        $0.value >= 0x20 && $0 != "\u{202E}"
      })
  }

  @Test("a change is shown again, and a bank that closes ends the display quietly")
  func watch() throws {
    let bank = try FakeBranch { _, _ in [.answer(.branches([Self.branches[0]])), .close] }
    defer { bank.end() }
    let ran = try run(["branches", "--watch"], home: bank.home)
    #expect(ran.exit == .done && ran.lines.count == 4)
  }

  @Test(
    "status and top show one requested branch, and name the existing ones if it is unknown")
  func one() throws {
    try withBank({ _ in .branches(Self.branches) }) { bank in
      let ran = try run(["status", "--branch", "2", "--json"], home: bank.home)
      #expect(ran.output == JSONValue.branches([Self.branches[1]]).text + "\n")
      #expect(try run(["status", "--branch", "2"], home: bank.home).lines.count == 3)
      let none = try run(["status", "--branch", "7", "--json"], home: bank.home)
      #expect(none.exit == .notFound && none.output.contains(#""code":"no_such_branch""#))
      #expect(none.output.contains("1, 2, 13"))
    }
    #expect(throws: UsageError.self) { try run(["status", "--branch", "0"], home: BankHome(path: "/tmp")) }
    #expect(throws: UsageError.self) {
      try run(["status", "--branch", "1", "-w"], home: BankHome(path: "/tmp"))
    }
  }

  // MARK: - Output of the other commands

  private var shared: StatusReport {
    var report = picture()
    report.branch = Self.branches[0]
    report.bank = SharedBankReport(
      queue: QueueReport(
        issued: 300, waiting: 100, delayed: 0, serving: 20, served: 180, dead: 0, cancelled: 0,
        oldestWaitMilliseconds: 5_000),
      services: [
        ServiceReport(service: .deposit, windows: 12, waiting: 100, serving: 20, served: 180, paused: false)
      ])
    return report
  }

  @Test("status has the numbers of the whole bank, and this branch with its own")
  func status() throws {
    let lines = StatusRenderer(report: shared, messages: MessageCatalog(language: .english), palette: .none)
      .lines
    #expect(lines[1] == "issued 300 = waiting 100 + serving 20 + served 180 · oldest wait 5.0 s")
    #expect(
      lines[2]
        == "branch 1 (seoul), epoch 3, lease 3.1 s · issued 10 = waiting 3 + serving 3 + served 4")
    #expect(lines.contains { $0.hasPrefix("deposit       12      100       20     180") })
    let korean = StatusRenderer(report: shared, messages: MessageCatalog(language: .korean), palette: .none)
      .lines
    #expect(korean[2].hasPrefix("지점 1(seoul), 에포크 3, 리스 3.1초 · 발급 10"))
    let text = JSONValue.status(shared).text
    #expect(
      text.contains(#""queue":{"issued":300,"waiting":100,"#)
        && text.contains(#""workers":[{"name":"deposit-1""#))
    #expect(
      text.contains(
        #""branch":{"branch":1,"host":"db-1.example.org","epoch":3,"state":"open","lease_ms":3100,"#))
    #expect(text.contains(#""is_self":true,"queue":{"issued":10,"waiting":3,"#))
    let opened = MessageCatalog(language: .english).thisBranch(Self.branches[2])
    #expect(opened == "branch 13 (jeju), epoch 1, lease -")
  }

  @Test("without branches a status is as before")
  func alone() {
    #expect(!JSONValue.status(picture()).text.contains("branch"))
    #expect(!JSONValue.receipt(receipt(7)).text.contains("branch"))
  }

  @Test("a receipt and each attempt name their branch, for people and for scripts")
  func receipts() throws {
    var written = receipt(7)
    written.branch = 2
    #expect(JSONValue.receipt(written).text.hasSuffix(#","branch":2}"#))
    var ticket = waiting(7, service: .loan)
    ticket.state = .done
    ticket.receipt = written
    var attempt = AttemptReport(
      window: "loan-1", generation: 2, pid: 4250, startedAt: 1_795_248_000_000, endedAt: 1_795_248_000_002,
      end: .killed, signal: 9, code: nil)
    attempt.branch = 1
    var lost = attempt
    (lost.window, lost.end, lost.signal, lost.branch) = ("", .lost, nil, 13)
    ticket.attempts = [attempt, lost]
    let text = JSONValue.ticket(ticket).text
    #expect(text.contains(#""code":null,"branch":1}"#) && text.contains(#""code":null,"branch":13}"#))
    #expect(text.contains(#","branch":2,"attempts""#))
    for (language, one, two, none) in [
      (Language.english, "branch 1", "branch 2", "branch 13"), (.korean, "지점 1", "지점 2", "지점 13"),
    ] {
      let lines = TicketTimelineRenderer(
        ticket: ticket, messages: MessageCatalog(language: language), palette: .none
      ).lines
      #expect(lines.contains { $0.hasSuffix("pid 4250, \(one)") }, "\(lines)")
      #expect(lines.contains { $0.hasSuffix("(\(none))") } && lines.last?.hasSuffix(", \(two)") == true)
    }
    try withBank({ [written] _ in .receipts([written]) }) { bank throws in
      #expect(try run(["receipts"], home: bank.home).output.hasSuffix("Z  branch 2\n"))
      #expect(
        try run(["receipts", "--json"], home: bank.home).output == JSONValue.receipt(written).text + "\n")
    }
  }

  @Test("the dashboard and the board have the numbers of the bank and a line of branches")
  func boards() {
    var frame = TopFixture.frame()
    frame.branches = Self.branches
    frame.bank = BoardCounts(issued: 9_000, waiting: 800, delayed: 0, serving: 20, served: 8_180)
    func top(_ branch: Int64?) -> [String] {
      var model = TopModel(MessageCatalog(language: .english), isChaos: false, home: "/bank", branch: branch)
      model.handle(frame, at: TopFixture.begin)
      return TopRenderer(model: model, now: TopFixture.begin, palette: .none)
        .lines(size: Terminal.Size(columns: 80, rows: 24)).lines
    }
    #expect(top(nil)[1] == "issued 9,000 = waiting 800 + serving 20 + served 8,180")
    #expect(top(nil)[3] == "*1 seoul 12/s · 2 부산 expired · 13 jeju closed")
    #expect(top(1)[1].hasPrefix("issued 1,276 = waiting 7") && top(1)[3] == "*1 seoul 12/s")
    #expect(top(2)[3] == "2 부산 expired")
    #expect(top(7)[3].hasPrefix("This bank has no branch 7"))
    let board = BoardRenderer(frame: frame, messages: MessageCatalog(language: .english), palette: .none)
      .lines
    #expect(board[1].hasPrefix("issued 9,000 · waiting 800") && board[2].hasPrefix("*1 seoul 12/s · 2 부산"))
    let text = JSONValue.board(frame).text
    #expect(text.contains(#""bank":{"issued":9000,"#) && text.contains(#""branches":[{"branch":1,"#))
    #expect(!JSONValue.board(TopFixture.frame()).text.contains("branches"))
  }

  // MARK: - stop --bank, and refusals

  @Test("stop --bank requests the end of the whole bank, and cannot be combined with --now")
  func stopBank() throws {
    let stopped = StoppedReport(
      day: 1, served: 10, businessMilliseconds: 4_410, waiting: 0, dead: 0, isDayClosed: true)
    let bank = try FakeBranch { _, _ in [.answer(.stopped(stopped)), .hangUp] }
    defer { bank.end() }
    #expect(try run(["stop", "--bank", "--timeout", "5s"], home: bank.home).exit == .done)
    #expect(
      bank.heard == [.stop(StopParameters(now: false, timeoutMilliseconds: 5_000, closesWholeBank: true))])
    #expect(throws: UsageError.self) { try run(["stop", "--bank", "--now"], home: bank.home) }
  }

  @Test(
    "a request that a bank does not support is refused with its code, in both languages",
    arguments: [
      (["branches"], .requiresSharedStore, 5), (["stop", "--bank"], .requiresSharedStore, 5),
      (["pause"], .leaseLost, 75),
      (["reset", "--yes"], .unsupportedWithSharedStore, 5),
    ] as [([String], Failure.Code, Int32)])
  func refused(messages: [String], code: Failure.Code, exit: Int32) throws {
    let asked = messages.prefix(2).joined(separator: " ")
    try withBank({ command in
      if case .status = command { .status(picture()) } else { .failure(Failure(code, subject: asked)) }
    }) { bank in
      guard (try? BankctlTable.table.parse(messages)) != nil else { return }
      for language in Language.allCases {
        let ran = try run(messages + ["--json"], home: bank.home, language: language)
        #expect(ran.exit.rawValue == exit && ran.output.contains(#""code":"\#(code.name)""#), "\(ran)")
        if code != .leaseLost { #expect(ran.output.contains("'\(asked)'")) }
        if code == .requiresSharedStore { #expect(ran.output.contains("start --store")) }
      }
    }
  }

  @Test("a build without PostgreSQL reports what is missing")
  func noPostgres() {
    let failure = CommandError.failure(
      Failure(.badRequest, subject: "--store", messageDetail: MessageDetail(.noPostgres)))
    for language in Language.allCases {
      let commandFailure = MessageCatalog(language: language).commandFailure(about: failure, home: "/h")
      #expect(commandFailure?.message.contains("libpq-dev") == true && commandFailure?.code == "bad_request")
      #expect(commandFailure?.message.contains("invalid request") == false)
    }
  }

  // MARK: - The place of the database

  private func environment(_ variables: [String: String]) -> ProcessEnvironment {
    var environment = ProcessEnvironment.actual
    environment.variable = { variables[$0] }
    return environment
  }

  @Test("the shared database: the option, then BANK_STORE, then the configuration")
  func precedence() throws {
    let messages = MessageCatalog(language: .english)
    let chosen = environment(["BANK_STORE": "postgres://two/bank"])
    let flag = try chosen.store(flag: "postgres://one/bank", messages)
    #expect(flag?.address.description == "postgres://one/bank" && flag?.source == .option("--store"))
    let variable = try chosen.store(flag: nil, messages)
    #expect(
      variable?.address.description == "postgres://two/bank" && variable?.source == .environment("BANK_STORE")
    )
    #expect(try environment([:]).store(flag: nil, messages) == nil)
  }

  @Test("the address is passed on to the coordinator, and to the process that restarts it")
  func passedOn() {
    var order = LaunchSettings(.open, home: BankHome(path: "/h"))
    #expect(!order.arguments.contains("--store"))
    order.store = "postgres://bank@db/bank"
    #expect(order.arguments.suffix(2) == ["--store", "postgres://bank@db/bank"])
    order.purpose = .inspect
    #expect(order.arguments == ["--inspect", "--home", "/h", "--store", "postgres://bank@db/bank"])
  }

  @Test(
    "a mistake in the address is a usage error that repeats nothing of it",
    arguments: [["start"], ["open"], ["console"], ["start", "--foreground"], ["config", "show"]])
  func mistakes(messages: [String]) throws {
    let home = BankHome(path: "/tmp/no-such-bank-\(RandomSeed.fromSystem())")
    for language in Language.allCases {
      for address in ["postgres://bank:hunter2@db/bank", "hunter2", "postgres://db:hunter2/bank"] {
        let ran = try run(messages + ["--store", address, "--json"], home: home, language: language)
        #expect(ran.exit == .usage && !ran.output.contains("hunter2"), "\(ran)")
        guard messages != ["console"] else { continue }
        #expect(ran.output.contains(#""code":"usage""#) && ran.output.contains("postgres://"), "\(ran)")
      }
    }
    #expect((try? FileMetadata.inspect(home.path)) == .some(nil), "nothing was created")
  }
}
