// Messages from the coordinator to a teller or another worker. TellerMessage.swift has the messages from a
// worker and the rule of the conversation.

import BankModel

/// Messages from the coordinator to a teller or another worker.
public enum MessageToTeller: Sendable, Equatable {
  /// The coordinator accepted the hello; these are the teller's settings.
  case welcome(TellerSettings)
  /// The coordinator refused the hello, and ends the connection.
  case refused(Refusal)
  /// A customer to serve.
  case assign(Assignment)
  /// The receipts of all customers that this teller has reported as done, up to this lease, are on disk.
  case acknowledged(Lease)
  /// Recalls the customer of this lease. It has no effect if the teller has already answered the lease.
  case recall(Lease)
  /// The teller finishes its assigned customers and exits.
  case close
  /// The coordinator will assign no more customers. A teller returns (`returned`) a customer whose work cannot
  /// start because a resource is unavailable, such as the stock.
  case closing
  /// The coordinator accepted the hello of a worker; these are its timeouts.
  case workerAccepted(WorkerTimeouts)
  /// A customer for a worker to serve.
  indirect case assignWork(WorkItem)

  /// Field number of each kind of message.
  private enum Kind: Int, CodingKey {
    case welcome = 1, refused, assign, acknowledged, recall, close, closing, workerAccepted, assignWork
  }
}

extension MessageToTeller: Codable {
  public func encode(to encoder: any Encoder) throws {
    var message = encoder.container(keyedBy: Kind.self)
    switch self {
    case .welcome(let orders): try message.encode(orders, forKey: .welcome)
    case .refused(let refusal): try message.encode(refusal, forKey: .refused)
    case .assign(let assignment): try message.encode(assignment, forKey: .assign)
    case .acknowledged(let lease): try message.encode(lease, forKey: .acknowledged)
    case .recall(let lease): try message.encode(lease, forKey: .recall)
    case .close: try message.encode(EmptyMessage(), forKey: .close)
    case .closing: try message.encode(EmptyMessage(), forKey: .closing)
    case .workerAccepted(let terms): try message.encode(terms, forKey: .workerAccepted)
    case .assignWork(let order): try message.encode(order, forKey: .assignWork)
    }
  }

  public init(from decoder: any Decoder) throws {
    let message = try decoder.container(keyedBy: Kind.self)
    switch try message.singleKind() {
    case .welcome: self = .welcome(try message.decode(TellerSettings.self, forKey: .welcome))
    case .refused: self = .refused(try message.decode(Refusal.self, forKey: .refused))
    case .assign: self = .assign(try message.decode(Assignment.self, forKey: .assign))
    case .acknowledged: self = .acknowledged(try message.decode(Lease.self, forKey: .acknowledged))
    case .recall: self = .recall(try message.decode(Lease.self, forKey: .recall))
    case .close: self = try message.emptyMessage(.close, .close)
    case .closing: self = try message.emptyMessage(.closing, .closing)
    case .workerAccepted:
      self = .workerAccepted(try message.decode(WorkerTimeouts.self, forKey: .workerAccepted))
    case .assignWork: self = .assignWork(try message.decode(WorkItem.self, forKey: .assignWork))
    }
  }
}

/// Settings of a teller at its window.
public struct TellerSettings: Codable, Sendable, Equatable {
  /// Name of the worker: `deposit-1`.
  public var name: String
  /// Service of the window.
  public var service: Service
  /// Generation of this teller at the window.
  public var generation: Int32
  /// Duration of one customer's work in microseconds; 0 for none.
  public var workMicroseconds: Int64
  /// Maximum interval between reports of progress, in microseconds.
  public var beatMicroseconds: Int64
  /// Language of log messages.
  public var language: Language
  /// Path of this worker's log file; empty for none.
  public var logPath: String
  /// Size in bytes at which the log is rotated.
  public var logLimit: Int64
  /// Number of rotated logs that are kept.
  public var logKeep: Int32
  /// True if the worker logs the start and the end of each customer's work.
  public var logsCustomers: Bool
  /// Path of the stock service's socket, for a worker that uses the stock; nil for others.
  public var stockSocket: String?
  /// Description of each customer's command; nil if there is none. It is stored by reference, so that a copy of the
  /// settings is cheap.
  public var command: CommandSettings? {
    get { commandSettings?.value }
    set { commandSettings = newValue.map { Indirect($0) } }
  }
  private var commandSettings: Indirect<CommandSettings>?

  /// Creates settings from all values.
  public init(
    name: String, service: Service, generation: Int32, workMicroseconds: Int64, beatMicroseconds: Int64,
    language: Language, logPath: String, logLimit: Int64, logKeep: Int32, logsCustomers: Bool,
    stockSocket: String? = nil, command: CommandSettings? = nil
  ) {
    (self.name, self.service, self.generation) = (name, service, generation)
    (self.workMicroseconds, self.beatMicroseconds) = (workMicroseconds, beatMicroseconds)
    (self.language, self.logPath, self.logLimit, self.logKeep) = (language, logPath, logLimit, logKeep)
    (self.logsCustomers, self.stockSocket) = (logsCustomers, stockSocket)
    commandSettings = command.map { Indirect($0) }
  }

  /// Name of the service, which is part of the worker's name.
  public var serviceName: ServiceName {
    ServiceName(ofWindow: name) ?? ServiceName(placeholderFor: service)
  }

  /// Field number of each property of a teller's settings, in messages.
  enum CodingKeys: Int, CodingKey {
    case name = 1, service, generation, workMicroseconds, beatMicroseconds, language, logPath, logLimit,
      logKeep, logsCustomers, stockSocket, commandSettings
  }
}

/// One customer for one teller.
public struct Assignment: Codable, Sendable, Equatable {
  /// Ticket number.
  public var ticket: Int64
  /// Number of the attempt, from 1, and generation of the teller.
  public var attempt, generation: Int32
  /// Business day of the ticket.
  public var day: Int64
  /// Requested service.
  public var service: Service
  /// Priority in the queue.
  public var priority: Priority
  /// Amount in won, and account.
  public var amount, account: Int64
  /// Name of the ordered article; nil for none.
  public var itemName: String?
  /// Unique key of the customer, the same in every attempt: its order name at the stock, and the `BANK_KEY` of a
  /// command. Nil if the work needs none.
  public var order: OrderID?
  /// Payload, if the work needs it; nil for none.
  public var payload: [UInt8]?

  /// Assignment of a customer to a teller.
  public init(day: BusinessDay, customer: Customer, lease: Lease) {
    self.init(
      day: day, lease: lease, service: customer.service, priority: customer.priority, amount: customer.amount,
      account: customer.account)
    if !customer.itemName.isEmpty { itemName = customer.itemName }
  }

  init(
    day: BusinessDay, lease: Lease, service: Service, priority: Priority, amount: Won, account: AccountNumber
  ) {
    ticket = lease.ticket
    attempt = lease.attempt
    generation = lease.generation
    self.day = day
    self.service = service
    self.priority = priority
    self.amount = amount
    self.account = account
  }

  /// Lease of this assignment.
  public var lease: Lease { Lease(ticket: ticket, attempt: attempt, generation: generation) }

  /// Field number of each property of an assignment to a teller, in messages.
  enum CodingKeys: Int, CodingKey {
    case ticket = 1, attempt, generation, day, service, priority, amount, account, itemName, order, payload
  }
}
