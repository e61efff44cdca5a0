// Owns one client's connection to a service: its channel, and whether it has said hello.
// It must not know what the client asks for.
// Invariant: nothing is delivered from a client before its hello was accepted.
// Failure: the end of the channel; the session is of no more use then.

import Posix
import Wire

/// One client of a ``ServiceSocket``.
public final class ServiceSession<
  Request: Codable & Sendable & Equatable, Result: Codable & Sendable & Equatable
> {
  /// What carries the conversation.
  public typealias Channel = MessageChannel<ServiceQuestion<Request>, ServiceAnswer<Result>>

  /// Tells sessions apart, also those that have ended.
  public let id: UInt64
  /// The connection. Its `onMessage`, `onEnd` and `lastWord` belong to the socket; the rest is the service's.
  public let channel: Channel
  let connectedAt: MonotonicInstant
  var isGreeted = false
  var isUnflushed = false
  /// Requests that have not been answered for the last time.
  var openRequests = 0

  init(id: UInt64, channel: Channel) {
    self.id = id
    self.channel = channel
    connectedAt = channel.lastReceiveAt
  }
}
