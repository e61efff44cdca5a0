// Owns a request of a client until it is answered for the last time, and the way back to whoever has made it. It knows no
// service. A client that has left is answered as well, and nobody hears it.

import Transport
import Wire

/// A request of a client, until it is answered for the last time.
public struct ServiceCall<Command: Codable & Sendable & Equatable, Reply: Codable & Sendable & Equatable> {
  /// The socket that a request comes to.
  public typealias Socket = ServiceSocket<ServiceRequest<Command>, Reply>
  /// Those who follow.
  public typealias Views = ServiceViews<ServiceRequest<Command>, Reply>

  /// Tells it from every other call of this process; a machine answers under this number.
  public let id: UInt64
  /// Which of the service's sockets it came to.
  public let endpoint: Int
  let socket: Socket
  let session: Socket.Session
  let number: UInt32

  /// Whether the client reads what it is told.
  public var hasRoom: Bool { socket.hasRoom(for: session) }
  /// How many requests of one client may follow.
  public var viewsOfOne: Int { socket.viewsOfOne }
  /// Answers; the answer leaves with the end of the turn.
  public func answer(_ reply: Reply, more: Bool = false) { socket.answer(session, number, reply, more: more) }

  /// A view for this call; nil where the client has as many as it may.
  public func open(in views: Views, topic: Int = 0) -> Views.View? {
    views.open(socket, session, number, topic: topic)
  }
}
