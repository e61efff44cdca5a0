// A client's request from its arrival to its last answer, with the session through which the answers are sent.
// Answers to a client that has disconnected are discarded.

import Transport
import Wire

/// A client's request, until its last answer.
public struct ServiceCall<Command: Codable & Sendable & Equatable, Reply: Codable & Sendable & Equatable> {
  /// Socket that receives requests.
  public typealias Socket = ServiceSocket<ServiceRequest<Command>, Reply>
  /// Subscriptions of all clients.
  public typealias Views = ServiceSubscriptions<ServiceRequest<Command>, Reply>

  /// Number that is unique among all calls of this process. The machine's answer contains it.
  public let id: UInt64
  /// Index of the service's socket that received the request.
  public let endpoint: Int
  let socket: Socket
  let session: Socket.Session
  let number: UInt32

  /// True if little enough output to the client is pending, so that a long answer can be sent.
  public var hasRoom: Bool { socket.hasRoom(for: session) }
  /// Maximum number of subscriptions of one client.
  public var subscriptionsPerClient: Int { socket.subscriptionsPerClient }
  /// Queues an answer, which the server starts to write at the end of the iteration. `more`: another one follows.
  public func answer(_ reply: Reply, more: Bool = false) { socket.answer(session, number, reply, more: more) }

  /// Turns the call into a subscription. Returns nil if the client already has ``subscriptionsPerClient``
  /// subscriptions.
  public func open(in views: Views, topic: Int = 0) -> Views.Subscription? {
    views.open(socket, session, number, topic: topic)
  }
}
