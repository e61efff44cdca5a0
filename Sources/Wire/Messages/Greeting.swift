// Owns what the messages of every kind of service have in common: that they begin with a hello, and how that is answered.
// It knows no service and no socket.

/// What clients of a service say.
public protocol GreetedMessage: FrameMessage, Sendable {
  /// The hello, if this is one.
  var hello: Hello? { get }
}

/// What a service says to its clients.
public protocol GreetingMessage: FrameMessage, Sendable {
  /// The hello was accepted.
  static func welcome(_ welcome: Welcome) -> Self
  /// The connection ends.
  static func refused(_ refusal: Refusal) -> Self
}

extension StockMessage: GreetedMessage {
  /// The hello, if this is one.
  public var hello: Hello? { if case .hello(let hello) = self { hello } else { nil } }
}

extension StockServiceMessage: GreetingMessage {}
