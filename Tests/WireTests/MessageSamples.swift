// Samples of every shape of a message. The tests compare their bytes with the golden files. A new case of a
// message does not compile here before it has a name and a sample.

import BankModel
import Time

@testable import Wire

/// A message and the name of its golden file.
struct Sample<Message: Sendable>: Sendable {
  let name: String
  let message: Message

  init(_ name: String, _ message: Message) {
    self.name = name
    self.message = message
  }
}

private let lease = Lease(ticket: 1_234_567, attempt: 2, generation: 3)
private let refusal = Refusal(reason: .build, version: 1, build: "dev", detail: "other build: 예금")
private let tellersHello = Hello(version: 1, build: "a1b2c3", role: .teller)

extension TellerMessage {
  enum Case: String, CaseIterable {
    case hello, ready, done, failed, returned, beat, outOfStock, worked, progressed
  }

  var itsCase: Case {
    switch self {
    case .hello: .hello
    case .ready: .ready
    case .done: .done
    case .worked: .worked
    case .failed: .failed
    case .returned: .returned
    case .beat: .beat
    case .outOfStock: .outOfStock
    case .progressed: .progressed
    }
  }

  static func sample(_ which: Case) -> TellerMessage {
    switch which {
    case .hello: .hello(tellersHello)
    case .ready: .ready
    case .done: .done(lease)
    case .failed: .failed(lease, WorkFailure("no pen: 펜이 없습니다"))
    case .returned: .returned(lease)
    case .beat: .beat(lease)
    case .worked: .worked(lease, .sample)
    case .progressed: .progressed(lease, WorkProgress(percent: 40, text: "shrinking: 줄이는 중"))
    case .outOfStock:
      .outOfStock(
        lease,
        [
          Shortage(item: ItemID("strawberry"), needed: 16, available: 10),
          Shortage(item: ItemID("banana"), needed: 1, available: 0),
        ])
    }
  }

  static let samples =
    Case.allCases.map { Sample("teller-\($0.rawValue)", sample($0)) } + [
      Sample("teller-hello-juice", .hello(Hello(version: 1, build: "a1b2c3", role: .juice))),
      Sample("teller-hello-runner", .hello(Hello(version: 1, build: "a1b2c3", role: .runner))),
      Sample(
        "teller-hello-worker",
        .hello(
          Hello(
            version: 1, build: "", role: .worker,
            offer: WorkerOffer(services: [ServiceName("thumbs")!, ServiceName("mail")!], inFlight: 16)))),
      Sample("teller-hello-worker-window", .hello(Hello(version: 1, build: "", role: .worker))),
      Sample(
        "teller-hello-worker-bare", .hello(Hello(version: 1, build: "", role: .worker, offer: WorkerOffer()))),
      Sample("teller-progressed-nothing", .progressed(lease, WorkProgress())),
      Sample(
        "teller-failed-code",
        .failed(
          lease,
          WorkFailure("no such file", .later, processEnd: .code(75), after: .milliseconds(1_500)))),
      Sample("teller-failed-signal", .failed(lease, WorkFailure("", .crash, processEnd: .signal(11)))),
      Sample("teller-worked-nothing", .worked(lease, WorkResult(ending: .signal(9), duration: .zero))),
    ]
}

extension MessageToTeller {
  enum Case: String, CaseIterable {
    case welcome, refused, assign, acknowledged, recall, close, closing, workerAccepted = "engaged",
      assignWork = "entrust"
  }

  var itsCase: Case {
    switch self {
    case .welcome: .welcome
    case .refused: .refused
    case .assign: .assign
    case .acknowledged: .acknowledged
    case .recall: .recall
    case .close: .close
    case .closing: .closing
    case .workerAccepted: .workerAccepted
    case .assignWork: .assignWork
    }
  }

  static func sample(_ which: Case) -> MessageToTeller {
    switch which {
    case .welcome:
      .welcome(
        TellerSettings(
          name: "deposit-1", service: .deposit, generation: 3, workMicroseconds: 700_000,
          beatMicroseconds: 2_000_000, language: .korean, logPath: "/srv/bank/logs/deposit-1.log",
          logLimit: 8_388_608, logKeep: 4, logsCustomers: true))
    case .refused: .refused(refusal)
    case .assign:
      .assign(
        Assignment(
          day: 12,
          customer: Customer(
            ticket: 1_234_567, service: .loan, priority: .vvip, amount: 1_000_000_000_000,
            account: 999_999_999_999,
            issuedAt: WallTime(milliseconds: 0)), lease: lease))
    case .acknowledged: .acknowledged(lease)
    case .recall: .recall(lease)
    case .close: .close
    case .closing: .closing
    case .workerAccepted: .workerAccepted(WorkerTimeouts(leaseMilliseconds: 10_000, beatMilliseconds: 2_500))
    case .assignWork:
      .assignWork(
        WorkItem(
          day: 12, lease: lease, service: ServiceName("thumbs")!, priority: 1_024,
          payload: [0x89, 0x50, 0x4e, 0x47, 0], key: "7c1f-12-1234567", deadlineMilliseconds: 30_000))
    }
  }

  private static let ordersOfStation = MessageToTeller.welcome(
    TellerSettings(
      name: "juice-1", service: .juice, generation: 1, workMicroseconds: 0, beatMicroseconds: 2_000_000,
      language: .english, logPath: "", logLimit: 8_388_608, logKeep: 0, logsCustomers: false,
      stockSocket: "/srv/bank/run/stock.sock"))

  private static let ordersOfRunner: MessageToTeller = {
    var limits = CommandSettings.Limits()
    (limits.memory, limits.processorSeconds, limits.openFiles, limits.fileSize) = (1 << 30, 60, 256, 1 << 20)
    return .welcome(
      TellerSettings(
        name: "thumbs-1", service: BankModel.Service(number: 4), generation: 1, workMicroseconds: 0,
        beatMicroseconds: 2_000_000, language: .english, logPath: "", logLimit: 8_388_608, logKeep: 0,
        logsCustomers: false,
        command: CommandSettings(
          words: ["convert", "-", "-resize", "200", "{key}"], directory: "/srv/thumbs",
          environment: ["LANG=C.UTF-8"], timeoutMilliseconds: 30_000, graceMilliseconds: 5_000,
          limits: limits,
          resultBytes: 65_536, outputBytes: 1 << 30, outputDirectory: "/srv/bank/output",
          meanings: [
            CommandSettings.Meaning(code: 3, consequence: nil),
            CommandSettings.Meaning(code: CommandSettings.Meaning.timeouts, consequence: .never),
          ])))
  }()

  private static let ordersOfCommandLines = commandLines(mask: nil)
  private static let ordersWithMask = commandLines(mask: 0o022)

  private static func commandLines(mask: UInt32?) -> MessageToTeller {
    .welcome(
      TellerSettings(
        name: "run-1", service: BankModel.Service(number: 5), generation: 1, workMicroseconds: 0,
        beatMicroseconds: 2_000_000, language: .english, logPath: "", logLimit: 8_388_608, logKeep: 0,
        logsCustomers: false,
        command: CommandSettings(
          words: [], directory: nil, environment: [], timeoutMilliseconds: nil, graceMilliseconds: 10_000,
          limits: CommandSettings.Limits(), resultBytes: 0, outputBytes: 0, outputDirectory: "", meanings: [],
          mask: mask)))
  }

  private static let carrier: MessageToTeller = {
    guard case .assign(var assignment) = ofOtherService else { return ofOtherService }
    assignment.order = OrderID("b00000000000000ff-12-8-loyw3v28")
    assignment.payload = [0, 1, 255]
    return .assign(assignment)
  }()

  private static let bareOrder = MessageToTeller.assignWork(
    WorkItem(
      day: 12, lease: Lease(ticket: 8, attempt: 1, generation: 1), service: ServiceName("mail")!, priority: 0,
      key: "b00000000000000ff-12-8-loyw3v28"))

  private static let ordersInText = MessageToTeller.assignWork(
    WorkItem(
      day: 12, lease: lease, service: ServiceName("mail")!, priority: .max,
      payload: Array("to: \"고객\"\n\t\\ \u{1} \u{1f} / 🍓\r\u{8}\u{c}".utf8), key: "k",
      deadlineMilliseconds: 1))

  private static let ofOtherService = MessageToTeller.assign(
    Assignment(
      day: 12,
      customer: Customer(
        ticket: 8, service: BankModel.Service(number: 1_003), priority: .regular, amount: 0, account: 0,
        issuedAt: WallTime(milliseconds: 0)),
      lease: Lease(ticket: 8, attempt: 1, generation: 1)))

  private static let orderOfJuice = MessageToTeller.assign(
    Assignment(
      day: 12,
      customer: Customer(
        ticket: 7, service: .juice, priority: .regular, amount: 0, account: 0,
        issuedAt: WallTime(milliseconds: 0), itemName: "strawberry-banana"),
      lease: Lease(ticket: 7, attempt: 1, generation: 1)))

  private static let namedOrderOfJuice: MessageToTeller = {
    guard case .assign(var assignment) = orderOfJuice else { return orderOfJuice }
    assignment.order = OrderID("b00000000000000ff-12-7-loyw3v28")
    return .assign(assignment)
  }()

  static let samples =
    Case.allCases.map { Sample("window-\($0.rawValue)", sample($0)) }
    + [
      Sample("window-assign-service", ofOtherService), Sample("window-assign-article", orderOfJuice),
      Sample("window-assign-order", namedOrderOfJuice),
      Sample("window-welcome-juice", ordersOfStation), Sample("window-welcome-runner", ordersOfRunner),
      Sample("window-welcome-run", ordersOfCommandLines), Sample("window-assign-payload", carrier),
      Sample("window-welcome-mask", ordersWithMask),
      Sample("window-entrust-bare", bareOrder), Sample("window-entrust-text", ordersInText),
    ]
}

extension ClientMessage {
  enum Case: String, CaseIterable { case hello, request }

  var itsCase: Case {
    switch self {
    case .hello: .hello
    case .request: .request
    }
  }

  static func sample(_ which: Case) -> ClientMessage {
    switch which {
    case .hello: .hello(Hello(version: 1, build: "a1b2c3", role: .client))
    case .request: .request(ControlRequest(number: 4_294_967_295, command: .cancel(7)))
    }
  }

  static let samples =
    Case.allCases.map { Sample("client-\($0.rawValue)", sample($0)) } + [
      Sample(
        "client-request-progress",
        .request(ControlRequest(number: 7, command: .requeueDead, reportsProgress: true))),
      Sample(
        "client-request-one-part",
        .request(ControlRequest(number: 7, command: .requeueDead, onePart: true))),
      Sample(
        "client-request-undelayed",
        .request(ControlRequest(number: 7, command: .awaitIdle, leavesDelayed: true))),
    ]
}

extension BankMessage {
  enum Case: String, CaseIterable { case welcome, refused, reply }

  var itsCase: Case {
    switch self {
    case .welcome: .welcome
    case .refused: .refused
    case .reply: .reply
    }
  }

  static func sample(_ which: Case) -> BankMessage {
    switch which {
    case .welcome: .welcome(Welcome(version: 1, build: "a1b2c3"))
    case .refused: .refused(refusal)
    case .reply: .reply(ControlReply(number: 9, answer: .requeued(3), more: true))
    }
  }

  static let samples = Case.allCases.map { Sample("bank-\($0.rawValue)", sample($0)) }
}

extension WorkResult {
  /// A command whose output is longer than the kept ends, and in a file.
  static let sample = WorkResult(
    ending: .code(0), duration: .milliseconds(1_234),
    output: TruncatedOutput(
      first: Array("begin".utf8), last: Array("end".utf8), length: 1_000_000, filed: 900_000)!,
    errors: TruncatedOutput(first: [0, 255, 10])!)
}
