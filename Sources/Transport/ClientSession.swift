// Owns one client's connection to a server: its channel, whether it has said hello, and what it is owed.
// Invariant: nothing is delivered from a client before its hello was accepted.
// Failure: the end of the channel; the session is of no more use then.
import Posix
import Time
import Wire

/// One client of a ``ClientServer``.
open class ClientSession<Question: FrameMessage, Answer: RefusingMessage> {
  /// What carries the conversation.
  public typealias Channel = MessageChannel<Question, Answer>

  /// Tells sessions apart, also those that have ended.
  public final let id: UInt64
  /// The connection. Its handlers belong to the server.
  public final let channel: Channel
  package final var isGreeted = false
  /// Requests that have not been answered for the last time.
  package final var openRequests = 0
  /// Those that are told of changes until their client leaves.
  package final var views = 0
  /// In the time that was attended, as all that a client is judged by.
  final let connectedAt: MonotonicTime
  /// Whether something was said to it since the last flush.
  final var isUnflushed = false
  /// What was heard last when this was looked at last, and since when there was nothing else.
  private final var lastHeard: MonotonicTime
  private final var silentSince: MonotonicTime

  /// A client that has just connected.
  public required init(id: UInt64, channel: Channel) {
    self.id = id
    self.channel = channel
    lastHeard = channel.lastReceiveAt
    connectedAt = channel.loop.attended.now
    silentSince = connectedAt
  }

  /// Whether the connection still stands.
  public final var isOpen: Bool { channel.isOpen }

  /// For how long nothing was heard, to the fineness with which this is asked.
  final func silence(until now: MonotonicTime) -> TimeSpan {
    if channel.lastReceiveAt != lastHeard { (lastHeard, silentSince) = (channel.lastReceiveAt, now) }
    return now.since(silentSince)
  }
}
