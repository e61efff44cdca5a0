// One client's connection to a server: its channel, its greeting, and its open requests.
// After the end of the channel the session is unusable.
import Posix
import Time
import Wire

/// Connection of one client to a ``ClientServer``.
open class ClientSession<Question: FrameMessage, Answer: RefusingMessage> {
  /// Channel type of the connection.
  public typealias Channel = MessageChannel<Question, Answer>

  /// Number that is unique among all sessions of the server, including ended ones.
  public final let id: UInt64
  /// The connection. Its handlers belong to the server.
  public final let channel: Channel
  /// True after the client's hello was accepted.
  package final var isGreeted = false
  /// Number of requests whose last answer was not queued yet.
  package final var openRequests = 0
  /// Number of subscriptions.
  package final var views = 0
  /// Time of the connection, in listening time.
  final let connectedAt: MonotonicTime
  /// True if the server's next flush includes this client.
  final var isUnflushed = false
  /// Time of the last input at the previous call of ``silence(until:)``, and the time of the call that first saw
  /// this input, at which the silence starts.
  private final var lastInputAt: MonotonicTime
  private final var silentSince: MonotonicTime

  /// A session for a client that has just connected.
  public required init(id: UInt64, channel: Channel) {
    self.id = id
    self.channel = channel
    lastInputAt = channel.lastReceiveAt
    connectedAt = channel.loop.listeningTime.now
    silentSince = connectedAt
  }

  /// True while the connection is open.
  public final var isOpen: Bool { channel.isOpen }

  /// Time since the client's last input, as precise as the interval of the calls to this function.
  final func silence(until now: MonotonicTime) -> TimeSpan {
    if channel.lastReceiveAt != lastInputAt { (lastInputAt, silentSince) = (channel.lastReceiveAt, now) }
    return now.since(silentSince)
  }
}
