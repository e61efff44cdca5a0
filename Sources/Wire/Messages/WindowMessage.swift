// Messages from the coordinator to a teller at a window. The other direction, and the rule of the
// conversation, are in TellerMessage.swift.

import BankModel

/// Messages from the coordinator to a teller.
public enum WindowMessage: Sendable, Equatable {
  /// The hello was accepted; these are the teller's window and its orders.
  case welcome(TellerOrders)
  /// The hello was not accepted; the connection ends.
  case refused(Refusal)
  /// A customer to serve.
  case assign(Assignment)
  /// The receipts of everything this teller reported as done, up to this lease, are on disk.
  case acknowledged(Lease)
  /// Return this customer. Without effect if the answer to the lease is already in flight.
  case recall(Lease)
  /// Finish the assigned customers, if any, and exit.
  case close
  /// No more customers will be assigned: return a customer whose work cannot start, because what it needs is
  /// unavailable, by `returned`.
  case closing
  /// The hello of a worker was accepted; these are its terms.
  case engaged(WorkerTerms)
  /// A customer for a worker to serve.
  indirect case entrust(WorkOrder)

  private enum Kind: Int, CodingKey {
    case welcome = 1, refused, assign, acknowledged, recall, close, closing, engaged, entrust
  }
}

extension WindowMessage: Codable {
  public func encode(to encoder: any Encoder) throws {
    var message = encoder.container(keyedBy: Kind.self)
    switch self {
    case .welcome(let orders): try message.encode(orders, forKey: .welcome)
    case .refused(let refusal): try message.encode(refusal, forKey: .refused)
    case .assign(let assignment): try message.encode(assignment, forKey: .assign)
    case .acknowledged(let lease): try message.encode(lease, forKey: .acknowledged)
    case .recall(let lease): try message.encode(lease, forKey: .recall)
    case .close: try message.encode(Nothing(), forKey: .close)
    case .closing: try message.encode(Nothing(), forKey: .closing)
    case .engaged(let terms): try message.encode(terms, forKey: .engaged)
    case .entrust(let order): try message.encode(order, forKey: .entrust)
    }
  }

  public init(from decoder: any Decoder) throws {
    let message = try decoder.container(keyedBy: Kind.self)
    switch try message.onlyKind() {
    case .welcome: self = .welcome(try message.decode(TellerOrders.self, forKey: .welcome))
    case .refused: self = .refused(try message.decode(Refusal.self, forKey: .refused))
    case .assign: self = .assign(try message.decode(Assignment.self, forKey: .assign))
    case .acknowledged: self = .acknowledged(try message.decode(Lease.self, forKey: .acknowledged))
    case .recall: self = .recall(try message.decode(Lease.self, forKey: .recall))
    case .close: self = try message.bare(.close, .close)
    case .closing: self = try message.bare(.closing, .closing)
    case .engaged: self = .engaged(try message.decode(WorkerTerms.self, forKey: .engaged))
    case .entrust: self = .entrust(try message.decode(WorkOrder.self, forKey: .entrust))
    }
  }
}

/// Settings of a teller at its window.
public struct TellerOrders: Codable, Sendable, Equatable {
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
  /// Bytes after which the log is rotated.
  public var logLimit: Int64
  /// Rotated logs that are kept.
  public var logKeep: Int32
  /// True if every start and completion is logged.
  public var logsCustomers: Bool
  /// Path of the stock service's socket, for a worker that uses the stock; nil for others.
  public var stockSocket: String?
  /// Description of each customer's command; nil if there is none. A teller copies its orders with every
  /// customer, so this part is stored behind a reference.
  public var command: CommandOrders? {
    get { commandOrders?.value }
    set { commandOrders = newValue.map { Held($0) } }
  }
  private var commandOrders: Held<CommandOrders>?

  /// Orders with every part.
  public init(
    name: String, service: Service, generation: Int32, workMicroseconds: Int64, beatMicroseconds: Int64,
    language: Language, logPath: String, logLimit: Int64, logKeep: Int32, logsCustomers: Bool,
    stockSocket: String? = nil, command: CommandOrders? = nil
  ) {
    (self.name, self.service, self.generation) = (name, service, generation)
    (self.workMicroseconds, self.beatMicroseconds) = (workMicroseconds, beatMicroseconds)
    (self.language, self.logPath, self.logLimit, self.logKeep) = (language, logPath, logLimit, logKeep)
    (self.logsCustomers, self.stockSocket) = (logsCustomers, stockSocket)
    commandOrders = command.map { Held($0) }
  }

  /// Name of the service, which is part of the worker's name.
  public var serviceName: ServiceName {
    ServiceName(ofWindow: name) ?? ServiceName(standingFor: service)
  }

  enum CodingKeys: Int, CodingKey {
    case name = 1, service, generation, workMicroseconds, beatMicroseconds, language, logPath, logLimit,
      logKeep, logsCustomers, stockSocket, commandOrders
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
  public var article: String?
  /// Unique key of the customer, the same in every attempt: the order name at the stock, and `BANK_KEY` of a
  /// command. Nil if the stock is not used, or if the name is made of day and ticket.
  public var order: OrderID?
  /// Payload, if the work needs it; nil for none.
  public var payload: [UInt8]?

  /// Assignment of a customer to a teller.
  public init(day: BusinessDay, customer: Customer, lease: Lease) {
    self.init(
      day: day, lease: lease, service: customer.service, priority: customer.priority, amount: customer.amount,
      account: customer.account)
    if !customer.article.isEmpty { article = customer.article }
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

  enum CodingKeys: Int, CodingKey {
    case ticket = 1, attempt, generation, day, service, priority, amount, account, article, order, payload
  }
}
