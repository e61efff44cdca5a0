// Owns what the conversations with all services have in common: hello and welcome, then numbered requests and answers.
// It knows no service and no socket; what is asked and answered is the service's own.

import BankModel

/// What a server says to its clients, answers apart.
public protocol AnswerMessage: RefusingMessage {
  /// The hello was accepted.
  static func welcome(_ welcome: Welcome) -> Self
}

/// What is said to somebody who may be sent away.
public protocol RefusingMessage: FrameMessage {
  /// The connection ends.
  static func refused(_ refusal: Refusal) -> Self
}

extension WindowMessage: RefusingMessage {}

/// What a client says to a service.
public enum ServiceQuestion<Request: Codable & Sendable & Equatable>: Sendable, Equatable {
  /// The first message.
  case hello(Hello)
  /// A question or an order.
  case request(Request)

  private typealias Kind = QuestionKind
}

extension ServiceQuestion: FrameMessage {
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
    case .request: self = .request(try message.decode(Request.self, forKey: .request))
    }
  }
}

/// What a service sends to a client.
public enum ServiceAnswer<Result: Codable & Sendable & Equatable>: Sendable, Equatable {
  /// The hello was accepted.
  case welcome(Welcome)
  /// The connection ends.
  case refused(Refusal)
  /// An answer.
  case reply(NumberedReply<Result>)

  private typealias Kind = AnswerKind
}

extension ServiceAnswer: AnswerMessage {
  public func encode(to encoder: any Encoder) throws {
    var message = encoder.container(keyedBy: Kind.self)
    switch self {
    case .welcome(let welcome): try message.encode(welcome, forKey: .welcome)
    case .refused(let refusal): try message.encode(refusal, forKey: .refused)
    case .reply(let reply): try message.encode(reply, forKey: .reply)
    }
  }

  public init(from decoder: any Decoder) throws {
    let message = try decoder.container(keyedBy: Kind.self)
    switch try message.onlyKind() {
    case .welcome: self = .welcome(try message.decode(Welcome.self, forKey: .welcome))
    case .refused: self = .refused(try message.decode(Refusal.self, forKey: .refused))
    case .reply: self = .reply(try message.decode(NumberedReply<Result>.self, forKey: .reply))
    }
  }
}

/// A numbered request.
public struct ServiceRequest<Command: Codable & Sendable & Equatable>: Codable, Sendable, Equatable {
  /// Chosen by the client; every answer repeats it.
  public var number: UInt32
  /// The name that makes a change repeatable; nil where it has none.
  public var order: OrderID?
  /// What is asked for.
  public var command: Command

  /// A request; a question has no name.
  public init(number: UInt32, order: OrderID? = nil, command: Command) {
    (self.number, self.order, self.command) = (number, order, command)
  }

  typealias CodingKeys = RequestKeys
}

/// An answer with the number of its request.
public struct NumberedReply<Result: Codable & Sendable & Equatable>: Codable, Sendable, Equatable {
  /// The number of the request.
  public var number: UInt32
  /// The answer.
  public var result: Result
  /// Whether another answer to the same request follows.
  public var more: Bool

  public init(number: UInt32, result: Result, more: Bool = false) {
    (self.number, self.result, self.more) = (number, result, more)
  }

  typealias CodingKeys = ReplyKeys
}

// The numbers stand outside of the generic types, so that there is one set for all services: to look up those of one at run
// time, for every message, made a question 3 % dearer.

private enum QuestionKind: Int, CodingKey { case hello = 1, request }

private enum AnswerKind: Int, CodingKey { case welcome = 1, refused, reply }

/// The numbers of the parts of a ``ServiceRequest``.
enum RequestKeys: Int, CodingKey { case number = 1, order, command }

/// The numbers of the parts of a ``NumberedReply``.
enum ReplyKeys: Int, CodingKey { case number = 1, result, more }
