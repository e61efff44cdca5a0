// Owns the conversation between the coordinator and a service that it supervises, such as the stock: hello, ready, a
// sign of life when it is asked for, the end. What the service is for is said elsewhere, on its own socket.

import BankModel

/// What a service says to the coordinator.
public enum WorkerMessage: Sendable, Equatable {
  /// The first message.
  case hello(Hello)
  /// Its database is open and it listens.
  case ready
  /// It cannot be opened; the process ends.
  case failed(Failure)
  /// The answer to a check, said by the loop that does the work, behind everything that came before.
  case beat(Int64)
  /// Which database it works with and what that has seen of the bank: before it is ready, and when it has written down what
  /// ``SupervisorMessage/bank(_:)`` says.
  case database(DatabaseMark)

  private enum Kind: Int, CodingKey {
    case hello = 1, ready
    case failed = 4
    case beat = 6, database
  }
}

extension WorkerMessage: FrameMessage {
  public func encode(to encoder: any Encoder) throws {
    var message = encoder.container(keyedBy: Kind.self)
    switch self {
    case .hello(let hello): try message.encode(hello, forKey: .hello)
    case .ready: try message.encode(Nothing(), forKey: .ready)
    case .failed(let failure): try message.encode(failure, forKey: .failed)
    case .beat(let number): try message.encode(number, forKey: .beat)
    case .database(let mark): try message.encode(mark, forKey: .database)
    }
  }

  public init(from decoder: any Decoder) throws {
    let message = try decoder.container(keyedBy: Kind.self)
    switch try message.onlyKind() {
    case .hello: self = .hello(try message.decode(Hello.self, forKey: .hello))
    case .ready: self = try message.bare(.ready, .ready)
    case .failed: self = .failed(try message.decode(Failure.self, forKey: .failed))
    case .beat: self = .beat(try message.decode(Int64.self, forKey: .beat))
    case .database: self = .database(try message.decode(DatabaseMark.self, forKey: .database))
    }
  }
}

/// What the coordinator says to a service.
public enum SupervisorMessage: Sendable, Equatable {
  /// The hello was accepted; these are the service's orders.
  case welcome(WorkerOrders)
  /// The hello was not accepted; the connection ends.
  case refused(Refusal)
  /// Say ``WorkerMessage/beat(_:)`` with this number.
  case check(Int64)
  /// Answer what has been asked, and end.
  case close
  /// The database belongs to this bank: write down that it works with this opening.
  case bank(BankMark)

  private enum Kind: Int, CodingKey {
    case welcome = 1, refused, check
    case close = 6, bank
  }
}

extension WorkerMessage {
  /// The number of a `beat` that answers no check: a long work goes on. Checks are counted from 1.
  public static let progress: Int64 = 0
  /// The number of a `beat` that answers no check: the first order of this process is done.
  public static let worked: Int64 = -1
}

extension SupervisorMessage: FrameMessage {
  public func encode(to encoder: any Encoder) throws {
    var message = encoder.container(keyedBy: Kind.self)
    switch self {
    case .welcome(let orders): try message.encode(orders, forKey: .welcome)
    case .refused(let refusal): try message.encode(refusal, forKey: .refused)
    case .check(let number): try message.encode(number, forKey: .check)
    case .close: try message.encode(Nothing(), forKey: .close)
    case .bank(let mark): try message.encode(mark, forKey: .bank)
    }
  }

  public init(from decoder: any Decoder) throws {
    let message = try decoder.container(keyedBy: Kind.self)
    switch try message.onlyKind() {
    case .welcome: self = .welcome(try message.decode(WorkerOrders.self, forKey: .welcome))
    case .refused: self = .refused(try message.decode(Refusal.self, forKey: .refused))
    case .check: self = .check(try message.decode(Int64.self, forKey: .check))
    case .close: self = try message.bare(.close, .close)
    case .bank: self = .bank(try message.decode(BankMark.self, forKey: .bank))
    }
  }
}

/// What a service needs to know of its place among the workers.
public struct WorkerOrders: Codable, Sendable, Equatable {
  /// The worker's name: `stock`.
  public var name: String
  /// Which process under this name it is, from 1.
  public var generation: Int32
  /// The language of the log's messages.
  public var language: Language
  /// The file that this worker logs to; empty for none.
  public var logPath: String
  /// Bytes after which the log is rotated.
  public var logLimit: Int64
  /// Rotated logs that are kept.
  public var logKeep: Int32

  public init(
    name: String, generation: Int32, language: Language, logPath: String, logLimit: Int64, logKeep: Int32
  ) {
    (self.name, self.generation, self.language, self.logPath) = (name, generation, language, logPath)
    (self.logLimit, self.logKeep) = (logLimit, logKeep)
  }
  enum CodingKeys: Int, CodingKey { case name = 1, generation, language, logPath, logLimit, logKeep }
}
