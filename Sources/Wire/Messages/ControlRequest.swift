// Requests of a client to the coordinator on the control socket. A client may send several requests without
// waiting for answers. Each answer contains the number of its request.

import BankModel

/// Messages from a client.
public enum ClientMessage: Sendable, Equatable {
  /// The first message.
  case hello(Hello)
  /// A message after the hello.
  case request(ControlRequest)

  /// Field number of each kind of message.
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
    switch try message.singleKind() {
    case .hello: self = .hello(try message.decode(Hello.self, forKey: .hello))
    case .request: self = .request(try message.decode(ControlRequest.self, forKey: .request))
    }
  }
}

/// A request with its number.
public struct ControlRequest: Codable, Sendable, Equatable {
  /// Number chosen by the client; its answers contain it.
  public var number: UInt32
  /// Content of the request.
  public var command: ControlCommand
  /// True if the client wants to receive the progress of `reset` or `requeueDead`: answers `progress` with `more`.
  /// Nil, as from an older build, means false.
  public var reportsProgress: Bool?
  /// True if the answer to `receipts` is only the first non-empty part of the list, and `more` means that the list
  /// has further parts. Nil means false. A coordinator that inspects a database supports this field.
  public var onePart: Bool?
  /// True if `awaitIdle` ignores delayed customers. Nil means false.
  public var leavesDelayed: Bool?

  public init(
    number: UInt32, command: ControlCommand, reportsProgress: Bool? = nil, onePart: Bool? = nil,
    leavesDelayed: Bool? = nil
  ) {
    (self.number, self.command, self.reportsProgress) = (number, command, reportsProgress)
    (self.onePart, self.leavesDelayed) = (onePart, leavesDelayed)
  }
  /// Field number of each property of a numbered request, in messages.
  enum CodingKeys: Int, CodingKey { case number = 1, command, reportsProgress, onePart, leavesDelayed }
}

/// Requests to the coordinator.
public enum ControlCommand: Sendable, Equatable {
  /// Returns the state of the bank. Answer: `status`.
  case status
  /// Subscribes to the state of the bank: a status, and others after changes and while the business time runs.
  /// Answers: `status` with `more`, until the connection ends. A slow reader does not receive every status.
  case watch
  /// Waits until the process of every window has reported `ready`, or cannot be started now. Answer: `status`,
  /// or `failure`.
  case awaitOpen
  /// Adds customers with the same properties. Answer: `progress` with `more` for a large number, then `enqueued`
  /// once they are on disk, or `failure` if none was added.
  case enqueue(EnqueueParameters)
  /// Adds a list of customers, in several parts. The last part is answered like `enqueue`; the earlier parts
  /// have no answer. The client must not send another request on the same connection between the parts.
  case enqueueList(EnqueueList)
  /// Lists customers. Answers: `tickets`, one for each part of the list, with `more` except for the last.
  case tickets(TicketQuery)
  /// Returns one ticket with its attempts and its receipt. Answer: `ticket`.
  case ticket(number: Int64, day: Int64?)
  /// Lists receipts. Answers: `receipts`, one for each part of the list, with `more` except for the last. With
  /// `follow` there is no last part.
  case receipts(ReceiptQuery)
  /// Subscribes to the starts and ends of attempts. Answers: `event` with `more`, until the connection ends.
  case follow
  /// Waits until no customer waits, is delayed or is served; see also ``ControlRequest/leavesDelayed``. Answer:
  /// `status`.
  case awaitIdle
  /// Waits until none of these tickets waits, is delayed or is served. Answer: `ended`; at once if `day` is not
  /// the current day.
  case awaitTickets(day: Int64, first: Int64, last: Int64)
  /// Pauses this service, or all services for nil. Answer: `status`.
  case pause(ServiceName?)
  /// Resumes this service, or all services for nil. Answer: `status`.
  case resume(ServiceName?)
  /// Opens or closes windows. Answer: `status` when the change is complete.
  case scale([ServiceWindows])
  /// Cancels a customer that has no receipt: waiting, delayed, at a window, or a dead letter. Answer: `ticket`.
  /// Refused if `day` is not the current day, because the number may now belong to another customer.
  case cancel(Int64, day: Int64? = nil)
  /// Returns a dead letter to its line. Answer: `ticket`. `day` has the same meaning as in `cancel`.
  case requeue(Int64, day: Int64? = nil)
  /// Returns all dead letters to their lines. Answer: `requeued`.
  case requeueDead
  /// Empties the queue and starts a new day. Answer: `status`. Refused (`wrong_state`) if `day` is not the
  /// current day, so that a request repeated after a lost connection does not empty the queue twice.
  case reset(day: Int64?)
  /// Reads the configuration again. Answer: `status` when the change is complete.
  case reload
  /// Closes the bank. Answers: `progress` with `more`, then `stopped`. With ``StopParameters/noWait``, `status`.
  case stop(StopParameters)
  /// Checks the invariants. Answer: `audit`.
  case audit
  /// Returns the sums of the ledger. Answer: `ledger`.
  case ledger
  /// Returns one customer's account. Answer: `account`.
  case account(Int64)
  /// Withdraws an `enqueue`, `enqueueList` or `board` of the same connection, identified by its request number.
  /// There is no answer to the withdrawal. The withdrawn request is answered with `failure` `withdrawn`, or as
  /// usual if it is too late to withdraw it.
  case withdraw(UInt32)
  /// Subscribes to snapshots of the bank for a screen: one, and others after changes. Answers: `board` with `more`,
  /// until the connection ends or the request is withdrawn. A slow reader does not receive every snapshot.
  case board
  /// Kills the process of a window with SIGKILL, if generation and process id are still those that the client
  /// has read in a status or a board. Answer: `status`, or `failure` `other_process` if the window now has
  /// another process or none.
  case killWorker(window: String, generation: Int64, pid: Int32)
  /// Cancels several customers as ``cancel(_:day:)`` does. Answer: `selection`.
  case cancelAll(TicketSelection)
  /// Returns several dead letters as ``requeue(_:day:)`` does. Answer: `selection`.
  case requeueAll(TicketSelection)
  /// Starts the web server, or ends it for nil. A running server that satisfies the request keeps running. Answer:
  /// `status`.
  case web(WebServerSettings?)
  /// Returns the branches of a shared bank. Answer: `branches`, or `failure` `not_shared`.
  case branches
  /// Moves the database of a closed bank. Answers: `progress` with `more`, then `moved`; or `failure`.
  case move(MoveParameters)

  /// Field number of each kind of request.
  private enum Kind: Int, CodingKey {
    case status = 1
    case watch, awaitOpen, enqueue, enqueueList, tickets, ticket, receipts, follow, awaitIdle, awaitTickets,
      pause, resume, scale, cancel, requeue, requeueDead, reset, reload, stop, audit, ledger, account
    /// The day of `cancel` or `requeue`. It is a separate field, so that an older coordinator skips it.
    case day = 24
    case withdraw = 25
    case board, killWorker, cancelAll, requeueAll
    case web = 40
    case branches = 41
    case move = 42
  }
}

extension ControlCommand: Codable {
  public func encode(to encoder: any Encoder) throws {
    var command = encoder.container(keyedBy: Kind.self)
    switch self {
    case .status: try command.encode(EmptyMessage(), forKey: .status)
    case .watch: try command.encode(EmptyMessage(), forKey: .watch)
    case .awaitOpen: try command.encode(EmptyMessage(), forKey: .awaitOpen)
    case .enqueue(let order): try command.encode(order, forKey: .enqueue)
    case .enqueueList(let list): try command.encode(list, forKey: .enqueueList)
    case .tickets(let query): try command.encode(query, forKey: .tickets)
    case .ticket(let number, let day):
      try command.encode(TicketName(number: number, day: day), forKey: .ticket)
    case .receipts(let query): try command.encode(query, forKey: .receipts)
    case .follow: try command.encode(EmptyMessage(), forKey: .follow)
    case .awaitIdle: try command.encode(EmptyMessage(), forKey: .awaitIdle)
    case .awaitTickets(let day, let first, let last):
      try command.encode(TicketRange(day: day, first: first, last: last), forKey: .awaitTickets)
    case .pause(let service): try command.encode(OptionalValue(value: service), forKey: .pause)
    case .resume(let service): try command.encode(OptionalValue(value: service), forKey: .resume)
    case .scale(let windows): try command.encode(windows, forKey: .scale)
    case .cancel(let number, let day):
      try command.encode(number, forKey: .cancel)
      try command.encodeIfPresent(day, forKey: .day)
    case .requeue(let number, let day):
      try command.encode(number, forKey: .requeue)
      try command.encodeIfPresent(day, forKey: .day)
    case .requeueDead: try command.encode(EmptyMessage(), forKey: .requeueDead)
    case .reset(let day): try command.encode(OptionalValue(value: day), forKey: .reset)
    case .reload: try command.encode(EmptyMessage(), forKey: .reload)
    case .stop(let order): try command.encode(order, forKey: .stop)
    case .audit: try command.encode(EmptyMessage(), forKey: .audit)
    case .ledger: try command.encode(EmptyMessage(), forKey: .ledger)
    case .account(let number): try command.encode(number, forKey: .account)
    case .withdraw(let number): try command.encode(number, forKey: .withdraw)
    case .board: try command.encode(EmptyMessage(), forKey: .board)
    case .killWorker(let window, let generation, let pid):
      try command.encode(WindowProcess(window: window, generation: generation, pid: pid), forKey: .killWorker)
    case .cancelAll(let selection): try command.encode(selection, forKey: .cancelAll)
    case .requeueAll(let selection): try command.encode(selection, forKey: .requeueAll)
    case .web(let order): try command.encode(OptionalValue(value: order), forKey: .web)
    case .branches: try command.encode(EmptyMessage(), forKey: .branches)
    case .move(let order): try command.encode(order, forKey: .move)
    }
  }

  public init(from decoder: any Decoder) throws {
    let command = try decoder.container(keyedBy: Kind.self)
    switch try command.singleKind(beside: .day) {
    case .status: self = try command.emptyMessage(.status, .status)
    case .watch: self = try command.emptyMessage(.watch, .watch)
    case .awaitOpen: self = try command.emptyMessage(.awaitOpen, .awaitOpen)
    case .follow: self = try command.emptyMessage(.follow, .follow)
    case .awaitIdle: self = try command.emptyMessage(.awaitIdle, .awaitIdle)
    case .requeueDead: self = try command.emptyMessage(.requeueDead, .requeueDead)
    case .reload: self = try command.emptyMessage(.reload, .reload)
    case .audit: self = try command.emptyMessage(.audit, .audit)
    case .ledger: self = try command.emptyMessage(.ledger, .ledger)
    case .branches: self = try command.emptyMessage(.branches, .branches)
    case .enqueue: self = .enqueue(try command.decode(EnqueueParameters.self, forKey: .enqueue))
    case .enqueueList: self = .enqueueList(try command.decode(EnqueueList.self, forKey: .enqueueList))
    case .tickets: self = .tickets(try command.decode(TicketQuery.self, forKey: .tickets))
    case .ticket:
      let name = try command.decode(TicketName.self, forKey: .ticket)
      self = .ticket(number: name.number, day: name.day)
    case .receipts: self = .receipts(try command.decode(ReceiptQuery.self, forKey: .receipts))
    case .awaitTickets:
      let range = try command.decode(TicketRange.self, forKey: .awaitTickets)
      self = .awaitTickets(day: range.day, first: range.first, last: range.last)
    case .pause: self = .pause(try command.decode(OptionalValue<ServiceName>.self, forKey: .pause).value)
    case .resume: self = .resume(try command.decode(OptionalValue<ServiceName>.self, forKey: .resume).value)
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
    case .reset: self = .reset(day: try command.decode(OptionalValue<Int64>.self, forKey: .reset).value)
    case .withdraw: self = .withdraw(try command.decode(UInt32.self, forKey: .withdraw))
    case .stop: self = .stop(try command.decode(StopParameters.self, forKey: .stop))
    case .board: self = try command.emptyMessage(.board, .board)
    case .killWorker:
      let process = try command.decode(WindowProcess.self, forKey: .killWorker)
      self = .killWorker(window: process.window, generation: process.generation, pid: process.pid)
    case .cancelAll: self = .cancelAll(try command.decode(TicketSelection.self, forKey: .cancelAll))
    case .web: self = .web(try command.decode(OptionalValue<WebServerSettings>.self, forKey: .web).value)
    case .move: self = .move(try command.decode(MoveParameters.self, forKey: .move))
    case .requeueAll: self = .requeueAll(try command.decode(TicketSelection.self, forKey: .requeueAll))
    }
  }
}

/// Content of the request `ticket`: the number and the day of a ticket.
private struct TicketName: Codable {
  var number: Int64, day: Int64?
  /// Field number of each property of the content of the request `ticket`.
  enum CodingKeys: Int, CodingKey { case number = 1, day }
}

/// Content of the request `awaitTickets`: consecutive tickets of one day.
private struct TicketRange: Codable {
  var day, first, last: Int64
  /// Field number of each property of the content of the request `awaitTickets`.
  enum CodingKeys: Int, CodingKey { case day = 1, first, last }
}

/// Content of the request `killWorker`: the worker process at a window.
private struct WindowProcess: Codable {
  var window: String, generation: Int64, pid: Int32
  /// Field number of each property of the content of the request `killWorker`.
  enum CodingKeys: Int, CodingKey { case window = 1, generation, pid }
}
