// Owns what a client asks of the coordinator on the control socket. It knows no socket.
// A client may send several requests without waiting; answers carry the number of their request.

import BankModel

/// What a client sends.
public enum ClientMessage: Sendable, Equatable {
  /// The first message.
  case hello(Hello)
  /// Everything after it.
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

/// A numbered request.
public struct ControlRequest: Codable, Sendable, Equatable {
  /// Chosen by the client; every answer repeats it.
  public var number: UInt32
  /// What is asked.
  public var command: ControlCommand
  /// Whether the client wants to hear how far it has come, where it takes its time: answers `progress` with `more`.
  /// Nil, as from a build that does not know of it, for no. (`enqueue` and `stop` tell it unasked.)
  public var tellsProgress: Bool?
  /// Whether a list ends with its first part that shows something, and `more` says whether there is a rest: so whoever asks
  /// goes on when there is room for it. Nil for no. Those who read books for a coordinator know it.
  public var onePart: Bool?
  /// Of `awaitIdle`: true if delayed customers are not waited for. Nil for no.
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

/// Everything that can be asked of the coordinator.
public enum ControlCommand: Sendable, Equatable {
  /// The state of the bank, at once. Answer: `status`.
  case status
  /// The state of the bank now and after every change, at most ten times a second, until the connection ends.
  case watch
  /// The state of the bank as soon as every window has reported ready. Answer: `status`, or `failure`.
  case awaitOpen
  /// Customers of one kind. Answer: `enqueued` once they are on disk, or `failure` and nobody was added.
  case enqueue(EnqueueOrder)
  /// A part of a list of customers. The part that is marked as the last is answered like `enqueue`; the others are
  /// answered with nothing. Between the parts of a list no other request may stand on the same connection.
  case enqueueList(EnqueueList)
  /// Customers. Answer: `tickets`, page after page with `more`.
  case tickets(TicketQuery)
  /// One ticket's story. Answer: `ticket`.
  case ticket(number: Int64, day: Int64?)
  /// Receipts. Answer: `receipts`, page after page with `more`; with `follow` it never ends.
  case receipts(ReceiptQuery)
  /// Every start and completion from now on. Answer: `event` with `more`, until the connection ends.
  case follow
  /// Answer: `status` as soon as nobody waits or is served.
  case awaitIdle
  /// Answer: `ended` as soon as none of these tickets waits or is served.
  case awaitTickets(day: Int64, first: Int64, last: Int64)
  /// Hands out no more customers of this service, or of any. Answer: `status`.
  case pause(ServiceName?)
  /// Hands out customers of this service again, or of all. Answer: `status`.
  case resume(ServiceName?)
  /// Opens or closes windows. Answer: `status` when the change is complete.
  case scale([ServiceWindows])
  /// Takes a waiting customer or a dead letter out. Answer: `ticket`. Where a day is named and is not the present one, the
  /// number is another customer's by now, and it is refused.
  case cancel(Int64, day: Int64? = nil)
  /// Brings a dead letter back to its line. Answer: `ticket`. The day is as in `cancel`.
  case requeue(Int64, day: Int64? = nil)
  /// Brings all dead letters back. Answer: `requeued`.
  case requeueDead
  /// Empties the queue and begins a new day. Answer: `status`. With a day nothing is done where another one is present
  /// (`wrong_state`), so that asking again after a lost connection empties nothing twice.
  case reset(day: Int64?)
  /// Reads the configuration again. Answer: `status` when the change is complete.
  case reload
  /// Ends the bank. Answers: `progress` with `more`, then `stopped`.
  case stop(StopOrder)
  /// Checks every promise that can be checked. Answer: `audit`.
  case audit
  /// The sums of the ledger. Answer: `ledger`.
  case ledger
  /// One customer's account. Answer: `account`.
  case account(Int64)
  /// Gives up a request for tickets of the same connection, by its number. It has no answer of its own: that request
  /// is answered with `failure` `withdrawn`, and nobody was added, or as ever where it has been taken in already.
  case withdraw(UInt32)
  /// The bank as a screen shows it, at once and then whenever it has changed, at most twenty times a second. Answers: `board`
  /// with `more`, until the connection ends or the request is withdrawn. Whoever reads slowly misses frames.
  case board
  /// Ends the process of a window with SIGKILL, if it is still this one: the name, its generation and its process as a status
  /// or a board tells them. Answer: `status`; or `other_process` where
  /// another one is there by now.
  case endTeller(window: String, generation: Int64, pid: Int32)
  /// Takes several customers out as ``cancel(_:day:)`` does. Answer: `selection`.
  case cancelAll(TicketSelection)
  /// Brings several dead letters back as ``requeue(_:day:)`` does. Answer: `selection`.
  case requeueAll(TicketSelection)
  /// Begins the server of the page, or with nil ends it; one that is there already and does what is asked for stays. Answer:
  /// `status`, in which it is one of the workers.
  case web(WebOrder?)
  /// The branches of a shared bank. Answer: `branches`; or `not_shared`.
  case branches
  /// Moves the books of a bank that is not open. Answers: `progress` with `more`, then `moved`; or `failure`.
  case move(MoveOrder)

  private enum Kind: Int, CodingKey {
    case status = 1
    case watch, awaitOpen, enqueue, enqueueList, tickets, ticket, receipts, follow, awaitIdle, awaitTickets,
      pause, resume, scale, cancel, requeue, requeueDead, reset, reload, stop, audit, ledger, account
    /// The day that is meant by `cancel` or `requeue`; it stands beside them, so that an older coordinator skips it.
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
