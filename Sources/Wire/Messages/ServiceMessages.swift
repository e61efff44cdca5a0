// Common part of the conversations with the services: hello and welcome, then numbered requests and answers.
// The contents of requests and answers depend on the service.

import BankModel

/// Messages from a server to a client, among them those that accept and refuse the client.
public protocol AnswerMessage: RefusingMessage {
  /// Accepts the hello of a client.
  static func welcome(_ welcome: Welcome) -> Self
}

/// Messages to a peer, among them one that refuses the peer.
public protocol RefusingMessage: FrameMessage {
  /// Refuses the peer; the connection is closed after this message.
  static func refused(_ refusal: Refusal) -> Self
}

extension MessageToTeller: RefusingMessage {}

/// Messages from a client to a service.
public enum ServiceClientMessage<Request: Codable & Sendable & Equatable>: Sendable, Equatable {
  /// The first message.
  case hello(Hello)
  /// A message after the hello.
  case request(Request)

  /// Field numbers of the kinds of message.
  private typealias Kind = ServiceClientMessageKind
}

extension ServiceClientMessage: FrameMessage {
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
    case .request: self = .request(try message.decode(Request.self, forKey: .request))
    }
  }
}

/// Messages from a service to a client.
public enum ServiceServerMessage<Result: Codable & Sendable & Equatable>: Sendable, Equatable {
  /// The hello was accepted.
  case welcome(Welcome)
  /// The connection ends.
  case refused(Refusal)
  /// An answer.
  case reply(NumberedReply<Result>)

  /// Field numbers of the kinds of message.
  private typealias Kind = ServiceServerMessageKind
}

extension ServiceServerMessage: AnswerMessage {
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
    switch try message.singleKind() {
    case .welcome: self = .welcome(try message.decode(Welcome.self, forKey: .welcome))
    case .refused: self = .refused(try message.decode(Refusal.self, forKey: .refused))
    case .reply: self = .reply(try message.decode(NumberedReply<Result>.self, forKey: .reply))
    }
  }
}

/// A request with its number.
public struct ServiceRequest<Command: Codable & Sendable & Equatable>: Codable, Sendable, Equatable {
  /// Number chosen by the client; its answers contain it.
  public var number: UInt32
  /// Name of the request, under which a change takes effect only once; nil for none.
  public var order: OrderID?
  /// Content of the request.
  public var command: Command

  /// A request; a query has no order name.
  public init(number: UInt32, order: OrderID? = nil, command: Command) {
    (self.number, self.order, self.command) = (number, order, command)
  }

  /// Field numbers of a request.
  typealias CodingKeys = RequestKeys
}

/// An answer with the number of its request.
public struct NumberedReply<Result: Codable & Sendable & Equatable>: Codable, Sendable, Equatable {
  /// Number of the request.
  public var number: UInt32
  /// Content of the answer.
  public var result: Result
  /// True if another answer to the same request follows.
  public var more: Bool

  public init(number: UInt32, result: Result, more: Bool = false) {
    (self.number, self.result, self.more) = (number, result, more)
  }

  /// Field numbers of an answer.
  typealias CodingKeys = ReplyKeys
}

// These keys are outside the generic types, because generic types of keys would be looked up at run time for each
// message.

/// Field numbers of the kinds of a ``ServiceClientMessage``.
private enum ServiceClientMessageKind: Int, CodingKey { case hello = 1, request }

/// Field numbers of the kinds of a ``ServiceServerMessage``.
private enum ServiceServerMessageKind: Int, CodingKey { case welcome = 1, refused, reply }

/// Field numbers of a ``ServiceRequest``.
enum RequestKeys: Int, CodingKey { case number = 1, order, command }

/// Field numbers of a ``NumberedReply``.
enum ReplyKeys: Int, CodingKey { case number = 1, result, more }
