// Requests of a client to the coordinator on the control socket. A client may send several requests without
// waiting; answers contain the number of their request.

import BankModel

/// Messages from a client.
public enum ClientMessage: Sendable, Equatable {
  /// The first message.
  case hello(Hello)
  /// Every message after the hello.
  case request(ControlRequest)

  private enum Kind: Int, CodingKey { case hello = 1, request }
}

extension ClientMessage: Codable {
  public func encode(to encoder: any Encoder) throws {
    var message = encoder.container(keyedBy: Kind.self)
    switch self {
    case .hello(let hello): try message.encode(hello, forKey: .hello)
    case .request(let request): try message.encode(request, forKey: .request)
    }
  }

  public init(from decoder: any Decoder) throws {
    let message = try decoder.container(keyedBy: Kind.self)
    switch try message.onlyKind() {
    case .hello: self = .hello(try message.decode(Hello.self, forKey: .hello))
    case .request: self = .request(try message.decode(ControlRequest.self, forKey: .request))
    }
  }
}

/// A request with its number.
public struct ControlRequest: Codable, Sendable, Equatable {
  /// Number chosen by the client; every answer contains it.
  public var number: UInt32
  /// Content of the request.
  public var command: ControlCommand
  /// True to receive progress of a long request: answers `progress` with `more`. Nil, as from an older build,
  /// for false. (`enqueue` and `stop` send it anyway.)
  public var tellsProgress: Bool?
  /// True if a list ends after its first non-empty part, and `more` means that there is a rest: so the client
  /// continues when it has space. Nil for false. Only the coordinator's own database reader supports it.
  public var onePart: Bool?
  /// True for `awaitIdle` to ignore delayed customers. Nil for false.
  public var leavesDelayed: Bool?

  public init(
    number: UInt32, command: ControlCommand, tellsProgress: Bool? = nil, onePart: Bool? = nil,
    leavesDelayed: Bool? = nil
  ) {
    (self.number, self.command, self.tellsProgress) = (number, command, tellsProgress)
    (self.onePart, self.leavesDelayed) = (onePart, leavesDelayed)
  }
  enum CodingKeys: Int, CodingKey { case number = 1, command, tellsProgress, onePart, leavesDelayed }
}

/// All requests to the coordinator.
public enum ControlCommand: Sendable, Equatable {
  /// The state of the bank, at once. Answer: `status`.
  case status
  /// The state of the bank now and after every change, at most ten times a second, until the connection ends.
  case watch
  /// The state of the bank once every window has reported ready. Answer: `status`, or `failure`.
  case awaitOpen
  /// Adds customers of one kind. Answer: `enqueued` once they are on disk, or `failure` without any added.
  case enqueue(EnqueueOrder)
  /// A part of a list of customers. The last part is answered like `enqueue`; the others have no answer.
  /// Between the parts of a list no other request may be sent on the same connection.
  case enqueueList(EnqueueList)
  /// Lists customers. Answer: `tickets`, page after page with `more`.
  case tickets(TicketQuery)
  /// One ticket with its history. Answer: `ticket`.
  case ticket(number: Int64, day: Int64?)
  /// Lists receipts. Answer: `receipts`, page after page with `more`; with `follow` it never ends.
  case receipts(ReceiptQuery)
  /// Every start and completion from now on. Answer: `event` with `more`, until the connection ends.
  case follow
  /// Answer: `status` once no customer waits or is served.
  case awaitIdle
  /// Answer: `ended` once none of these tickets waits or is served.
  case awaitTickets(day: Int64, first: Int64, last: Int64)
  /// Assigns no more customers of this service, or of any. Answer: `status`.
  case pause(ServiceName?)
  /// Assigns customers of this service again, or of all. Answer: `status`.
  case resume(ServiceName?)
  /// Opens or closes windows. Answer: `status` when the change is complete.
  case scale([ServiceWindows])
  /// Cancels a waiting customer or a dead letter. Answer: `ticket`. Refused if a day is given that is not the
  /// current one, because the number belongs to another customer now.
  case cancel(Int64, day: Int64? = nil)
  /// Returns a dead letter to its line. Answer: `ticket`. The day is as in `cancel`.
  case requeue(Int64, day: Int64? = nil)
  /// Returns all dead letters. Answer: `requeued`.
  case requeueDead
  /// Empties the queue and starts a new day. Answer: `status`. Refused (`wrong_state`) if a day is given that
  /// is not the current one, so that a repeated request after a lost connection empties nothing twice.
  case reset(day: Int64?)
  /// Reads the configuration again. Answer: `status` when the change is complete.
  case reload
  /// Closes the bank. Answers: `progress` with `more`, then `stopped`.
  case stop(StopOrder)
  /// Checks all invariants. Answer: `audit`.
  case audit
  /// The sums of the ledger. Answer: `ledger`.
  case ledger
  /// One customer's account. Answer: `account`.
  case account(Int64)
  /// Withdraws a request for tickets of the same connection, by its number. It has no answer of its own: that
  /// request is answered with `failure` `withdrawn`, without any added, or as usual if it was taken in
  /// already.
  case withdraw(UInt32)
  /// Snapshot of the bank for a screen, at once and then after changes, at most twenty times a second.
  /// Answers: `board` with `more`, until the connection ends or the request is withdrawn. A slow reader
  /// misses frames.
  case board
  /// Kills the process of a window with SIGKILL, if it is still the given one: name, generation and
  /// process id as in a status or a board. Answer: `status`; or `other_process` if the window has another
  /// process now.
  case endTeller(window: String, generation: Int64, pid: Int32)
  /// Cancels several customers as ``cancel(_:day:)`` does. Answer: `selection`.
  case cancelAll(TicketSelection)
  /// Returns several dead letters as ``requeue(_:day:)`` does. Answer: `selection`.
  case requeueAll(TicketSelection)
  /// Starts the web server, or ends it with nil; a running one that satisfies the request stays. Answer:
  /// `status`, which lists it among the workers.
  case web(WebOrder?)
  /// The branches of a shared bank. Answer: `branches`; or `not_shared`.
  case branches
  /// Moves the database of a closed bank. Answers: `progress` with `more`, then `moved`; or `failure`.
  case move(MoveOrder)

  private enum Kind: Int, CodingKey {
    case status = 1
    case watch, awaitOpen, enqueue, enqueueList, tickets, ticket, receipts, follow, awaitIdle, awaitTickets,
      pause, resume, scale, cancel, requeue, requeueDead, reset, reload, stop, audit, ledger, account
    /// The day of `cancel` or `requeue`; it is a field beside them, so that an older coordinator skips it.
    case day = 24
    case withdraw = 25
    case board, endTeller, cancelAll, requeueAll
    case web = 40
    case branches = 41
    case move = 42
  }
}

extension ControlCommand: Codable {
  public func encode(to encoder: any Encoder) throws {
    var command = encoder.container(keyedBy: Kind.self)
    switch self {
    case .status: try command.encode(Nothing(), forKey: .status)
    case .watch: try command.encode(Nothing(), forKey: .watch)
    case .awaitOpen: try command.encode(Nothing(), forKey: .awaitOpen)
    case .enqueue(let order): try command.encode(order, forKey: .enqueue)
    case .enqueueList(let list): try command.encode(list, forKey: .enqueueList)
    case .tickets(let query): try command.encode(query, forKey: .tickets)
    case .ticket(let number, let day):
      try command.encode(TicketName(number: number, day: day), forKey: .ticket)
    case .receipts(let query): try command.encode(query, forKey: .receipts)
    case .follow: try command.encode(Nothing(), forKey: .follow)
    case .awaitIdle: try command.encode(Nothing(), forKey: .awaitIdle)
    case .awaitTickets(let day, let first, let last):
      try command.encode(TicketRange(day: day, first: first, last: last), forKey: .awaitTickets)
    case .pause(let service): try command.encode(Chosen(value: service), forKey: .pause)
    case .resume(let service): try command.encode(Chosen(value: service), forKey: .resume)
    case .scale(let windows): try command.encode(windows, forKey: .scale)
    case .cancel(let number, let day):
      try command.encode(number, forKey: .cancel)
      try command.encodeIfPresent(day, forKey: .day)
    case .requeue(let number, let day):
      try command.encode(number, forKey: .requeue)
      try command.encodeIfPresent(day, forKey: .day)
    case .requeueDead: try command.encode(Nothing(), forKey: .requeueDead)
    case .reset(let day): try command.encode(Chosen(value: day), forKey: .reset)
    case .reload: try command.encode(Nothing(), forKey: .reload)
    case .stop(let order): try command.encode(order, forKey: .stop)
    case .audit: try command.encode(Nothing(), forKey: .audit)
    case .ledger: try command.encode(Nothing(), forKey: .ledger)
    case .account(let number): try command.encode(number, forKey: .account)
    case .withdraw(let number): try command.encode(number, forKey: .withdraw)
    case .board: try command.encode(Nothing(), forKey: .board)
    case .endTeller(let window, let generation, let pid):
      try command.encode(WindowProcess(window: window, generation: generation, pid: pid), forKey: .endTeller)
    case .cancelAll(let selection): try command.encode(selection, forKey: .cancelAll)
    case .requeueAll(let selection): try command.encode(selection, forKey: .requeueAll)
    case .web(let order): try command.encode(Chosen(value: order), forKey: .web)
    case .branches: try command.encode(Nothing(), forKey: .branches)
    case .move(let order): try command.encode(order, forKey: .move)
    }
  }

  public init(from decoder: any Decoder) throws {
    let command = try decoder.container(keyedBy: Kind.self)
    switch try command.onlyKind(beside: .day) {
    case .status: self = try command.bare(.status, .status)
    case .watch: self = try command.bare(.watch, .watch)
    case .awaitOpen: self = try command.bare(.awaitOpen, .awaitOpen)
    case .follow: self = try command.bare(.follow, .follow)
    case .awaitIdle: self = try command.bare(.awaitIdle, .awaitIdle)
    case .requeueDead: self = try command.bare(.requeueDead, .requeueDead)
    case .reload: self = try command.bare(.reload, .reload)
    case .audit: self = try command.bare(.audit, .audit)
    case .ledger: self = try command.bare(.ledger, .ledger)
    case .branches: self = try command.bare(.branches, .branches)
    case .enqueue: self = .enqueue(try command.decode(EnqueueOrder.self, forKey: .enqueue))
    case .enqueueList: self = .enqueueList(try command.decode(EnqueueList.self, forKey: .enqueueList))
    case .tickets: self = .tickets(try command.decode(TicketQuery.self, forKey: .tickets))
    case .ticket:
      let name = try command.decode(TicketName.self, forKey: .ticket)
      self = .ticket(number: name.number, day: name.day)
    case .receipts: self = .receipts(try command.decode(ReceiptQuery.self, forKey: .receipts))
    case .awaitTickets:
      let range = try command.decode(TicketRange.self, forKey: .awaitTickets)
      self = .awaitTickets(day: range.day, first: range.first, last: range.last)
    case .pause: self = .pause(try command.decode(Chosen<ServiceName>.self, forKey: .pause).value)
    case .resume: self = .resume(try command.decode(Chosen<ServiceName>.self, forKey: .resume).value)
    case .scale: self = .scale(try command.decode([ServiceWindows].self, forKey: .scale))
    case .cancel:
      self = .cancel(
        try command.decode(Int64.self, forKey: .cancel),
        day: try command.decodeIfPresent(Int64.self, forKey: .day))
    case .requeue:
      self = .requeue(
        try command.decode(Int64.self, forKey: .requeue),
        day: try command.decodeIfPresent(Int64.self, forKey: .day))
    case .day: preconditionFailure("It is never the only kind, because it was not counted.")
    case .account: self = .account(try command.decode(Int64.self, forKey: .account))
    case .reset: self = .reset(day: try command.decode(Chosen<Int64>.self, forKey: .reset).value)
    case .withdraw: self = .withdraw(try command.decode(UInt32.self, forKey: .withdraw))
    case .stop: self = .stop(try command.decode(StopOrder.self, forKey: .stop))
    case .board: self = try command.bare(.board, .board)
    case .endTeller:
      let process = try command.decode(WindowProcess.self, forKey: .endTeller)
      self = .endTeller(window: process.window, generation: process.generation, pid: process.pid)
    case .cancelAll: self = .cancelAll(try command.decode(TicketSelection.self, forKey: .cancelAll))
    case .web: self = .web(try command.decode(Chosen<WebOrder>.self, forKey: .web).value)
    case .move: self = .move(try command.decode(MoveOrder.self, forKey: .move))
    case .requeueAll: self = .requeueAll(try command.decode(TicketSelection.self, forKey: .requeueAll))
    }
  }
}

private struct TicketName: Codable {
  var number: Int64, day: Int64?
  enum CodingKeys: Int, CodingKey { case number = 1, day }
}

private struct TicketRange: Codable {
  var day, first, last: Int64
  enum CodingKeys: Int, CodingKey { case day = 1, first, last }
}

private struct WindowProcess: Codable {
  var window: String, generation: Int64, pid: Int32
  enum CodingKeys: Int, CodingKey { case window = 1, generation, pid }
}
