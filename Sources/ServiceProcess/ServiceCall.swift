// A client's request from its arrival to its last answer, and the path back to the client. The answer to a
// client that has left is discarded.

import Transport
import Wire

/// A client's request, until its last answer.
public struct ServiceCall<Command: Codable & Sendable & Equatable, Reply: Codable & Sendable & Equatable> {
  /// Socket that receives requests.
  public typealias Socket = ServiceSocket<ServiceRequest<Command>, Reply>
  /// Subscriptions.
  public typealias Views = ServiceViews<ServiceRequest<Command>, Reply>

  /// Number that is unique among all calls of this process; a machine answers with it.
  public let id: UInt64
  /// Index of the service's socket that received it.
  public let endpoint: Int
  let socket: Socket
  let session: Socket.Session
  let number: UInt32

  /// True if the client reads its answers.
  public var hasRoom: Bool { socket.hasRoom(for: session) }
  /// Maximum number of subscriptions of one client.
  public var viewsOfOne: Int { socket.viewsOfOne }
  /// Sends an answer, which is written at the end of the iteration.
  public func answer(_ reply: Reply, more: Bool = false) { socket.answer(session, number, reply, more: more) }

  /// Makes the call a subscription; nil if the client has its maximum.
  public func open(in views: Views, topic: Int = 0) -> Views.View? {
    views.open(socket, session, number, topic: topic)
  }
}
