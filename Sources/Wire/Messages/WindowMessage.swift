// Owns what the coordinator says to a teller at a window. It knows no socket and no process.
// The other half of the conversation, and its rule, stand in TellerMessage.swift.

import BankModel

/// What the coordinator says to a teller.
public enum WindowMessage: Sendable, Equatable {
  /// The hello was accepted; this is the teller's place and its orders.
  case welcome(TellerOrders)
  /// The hello was not accepted; the connection ends.
  case refused(Refusal)
  /// A customer to serve.
  case assign(Assignment)
  /// The receipts of everything this teller reported as done, up to this lease, are on disk.
  case acknowledged(Lease)
  /// Give this customer back. Harmless when the answer to the lease is already on its way.
  case recall(Lease)
  /// Finish the customer in hand, if any, and end.
  case close
  /// Nobody comes after those in hand: one whose work cannot begin, because what it needs cannot be had for now, is given
  /// back by `returned`.
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

/// Everything a teller needs to know for its time at a window.
public struct TellerOrders: Codable, Sendable, Equatable {
  /// The worker's name: `deposit-1`.
  public var name: String
  /// What is served here.
  public var service: Service
  /// This teller's generation at the window.
  public var generation: Int32
  /// How long one customer's work takes, in microseconds; 0 for no time at all.
  public var workMicroseconds: Int64
  /// How often the work must report progress, in microseconds, at least.
  public var beatMicroseconds: Int64
  /// The language of the log's messages.
  public var language: Language
  /// The file that this worker logs to; empty for none.
  public var logPath: String
  /// Bytes after which the log is rotated.
  public var logLimit: Int64
  /// Rotated logs that are kept.
  public var logKeep: Int32
  /// Whether every start and completion is a line in the log.
  public var logsCustomers: Bool
  /// The socket of the stock service, for a worker that draws on the stock; nil for others.
  public var stockSocket: String?
  /// How the command of each customer is run; nil where there is none. A teller copies its orders with every customer, so what
  /// only a runner has is held by a reference.
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

  /// What the service is called, which is a part of the worker's name.
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
  /// The customer's number.
  public var ticket: Int64
  /// Which attempt at this customer this is, from 1, and the teller's generation.
  public var attempt, generation: Int32
  /// The business day.
  public var day: Int64
  /// What the customer came for.
  public var service: Service
  /// The customer's standing.
  public var priority: Priority
  /// The amount, in won, and the customer's account.
  public var amount, account: Int64
  /// What the worker needs to know beyond that; nil for nothing.
  public var article: String?
  /// What is the same in every attempt at this customer, and no other's: the stock is asked under this name, and a command is
  /// told it as `BANK_KEY`. Nil where nothing is asked of the stock, or by day and ticket.
  public var order: OrderID?
  /// What the customer carries, where the work needs it; nil for nothing.
  public var payload: [UInt8]?

  /// What a teller is told of a customer who is handed to it.
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

  /// The lease under which the customer is served.
  public var lease: Lease { Lease(ticket: ticket, attempt: attempt, generation: generation) }

  enum CodingKeys: Int, CodingKey {
    case ticket = 1, attempt, generation, day, service, priority, amount, account, article, order, payload
  }
}
