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
  /// In the time that was attended, as all that a client is judged by.
  let connectedAt: MonotonicInstant
  private var lastHeard: MonotonicInstant
  private var silentSince: MonotonicInstant
  var isGreeted = false
  var isUnflushed = false
  /// Requests that have not been answered for the last time.
  var openRequests = 0
  /// Those of them that follow.
  var views = 0

  init(id: UInt64, channel: Channel) {
    self.id = id
    self.channel = channel
    lastHeard = channel.lastReceiveAt
    connectedAt = channel.loop.attended.now
    silentSince = connectedAt
  }

  /// For how long nothing was heard, to the fineness with which this is asked.
  func silence(until now: MonotonicInstant) -> Duration {
    if channel.lastReceiveAt != lastHeard { (lastHeard, silentSince) = (channel.lastReceiveAt, now) }
    return now - silentSince
  }
}
