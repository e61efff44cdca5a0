// Conversation between the coordinator and a service that it supervises, such as the stock: hello, ready,
// liveness checks, the end. The clients of the service connect to another socket.

import BankModel

/// Messages from a service to the coordinator.
public enum ServiceProcessMessage: Sendable, Equatable {
  /// The first message.
  case hello(Hello)
  /// The service has opened its database, if it has one, and listens on its sockets.
  case ready
  /// The service cannot start or cannot continue; the process exits.
  case failed(Failure)
  /// The answer to the check with this number, or ``progress``, or ``worked``. The loop that does the work sends an
  /// answer.
  case beat(Int64)
  /// Identity of the service's database, and the last opening of the bank that is stored in it. A service with a
  /// database sends this before `ready`, and after it has stored the opening of ``SupervisorMessage/bank(_:)``.
  case database(DatabaseIdentity)

  /// Field number of each kind of message.
  private enum Kind: Int, CodingKey {
    case hello = 1, ready
    case failed = 4
    case beat = 6, database
  }
}

extension ServiceProcessMessage: FrameMessage {
  public func encode(to encoder: any Encoder) throws {
    var message = encoder.container(keyedBy: Kind.self)
    switch self {
    case .hello(let hello): try message.encode(hello, forKey: .hello)
    case .ready: try message.encode(EmptyMessage(), forKey: .ready)
    case .failed(let failure): try message.encode(failure, forKey: .failed)
    case .beat(let number): try message.encode(number, forKey: .beat)
    case .database(let mark): try message.encode(mark, forKey: .database)
    }
  }

  public init(from decoder: any Decoder) throws {
    let message = try decoder.container(keyedBy: Kind.self)
    switch try message.singleKind() {
    case .hello: self = .hello(try message.decode(Hello.self, forKey: .hello))
    case .ready: self = try message.emptyMessage(.ready, .ready)
    case .failed: self = .failed(try message.decode(Failure.self, forKey: .failed))
    case .beat: self = .beat(try message.decode(Int64.self, forKey: .beat))
    case .database: self = .database(try message.decode(DatabaseIdentity.self, forKey: .database))
    }
  }
}

/// Messages from the coordinator to a service.
public enum SupervisorMessage: Sendable, Equatable {
  /// The coordinator accepted the hello; these are the service's settings.
  case welcome(ServiceProcessSettings)
  /// The coordinator refused the hello, and ends the connection.
  case refused(Refusal)
  /// A liveness check. The service answers with ``ServiceProcessMessage/beat(_:)`` and this number.
  case check(Int64)
  /// The service sends the answers that need no further input, and exits.
  case close
  /// The service's database belongs to this bank. The service stores this opening in it.
  case bank(BankIdentity)

  /// Field number of each kind of message.
  private enum Kind: Int, CodingKey {
    case welcome = 1, refused, check
    case close = 6, bank
  }
}

extension ServiceProcessMessage {
  /// Number of a `beat` that reports the progress of a long computation and answers no check. Checks are
  /// numbered from 1.
  public static let progress: Int64 = 0
  /// Number of a `beat` that reports the first work done by this process and answers no check.
  public static let worked: Int64 = -1
}

extension SupervisorMessage: FrameMessage {
  public func encode(to encoder: any Encoder) throws {
    var message = encoder.container(keyedBy: Kind.self)
    switch self {
    case .welcome(let orders): try message.encode(orders, forKey: .welcome)
    case .refused(let refusal): try message.encode(refusal, forKey: .refused)
    case .check(let number): try message.encode(number, forKey: .check)
    case .close: try message.encode(EmptyMessage(), forKey: .close)
    case .bank(let mark): try message.encode(mark, forKey: .bank)
    }
  }

  public init(from decoder: any Decoder) throws {
    let message = try decoder.container(keyedBy: Kind.self)
    switch try message.singleKind() {
    case .welcome: self = .welcome(try message.decode(ServiceProcessSettings.self, forKey: .welcome))
    case .refused: self = .refused(try message.decode(Refusal.self, forKey: .refused))
    case .check: self = .check(try message.decode(Int64.self, forKey: .check))
    case .close: self = try message.emptyMessage(.close, .close)
    case .bank: self = .bank(try message.decode(BankIdentity.self, forKey: .bank))
    }
  }
}

/// Settings of a service that the coordinator supervises.
public struct ServiceProcessSettings: Codable, Sendable, Equatable {
  /// Name of the service: `stock`.
  public var name: String
  /// Generation of the process, from 1.
  public var generation: Int32
  /// Language of log messages.
  public var language: Language
  /// Path of the process's log file; empty for none.
  public var logPath: String
  /// Size in bytes at which the log is rotated.
  public var logLimit: Int64
  /// Number of rotated logs that are kept.
  public var logKeep: Int32

  public init(
    name: String, generation: Int32, language: Language, logPath: String, logLimit: Int64, logKeep: Int32
  ) {
    (self.name, self.generation, self.language, self.logPath) = (name, generation, language, logPath)
    (self.logLimit, self.logKeep) = (logLimit, logKeep)
  }
  /// Field number of each property of a service process's settings, in messages.
  enum CodingKeys: Int, CodingKey { case name = 1, generation, language, logPath, logLimit, logKeep }
}
