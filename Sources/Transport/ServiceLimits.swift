// Limits on a server's clients: number, time, and pending data. `requestBacklogLimit` and `openRequests` only delay
// a client's requests. If a client exceeds another limit, it is disconnected, or its request is refused.
import Glibc
import Time
import Wire

/// Limits on a server's clients.
public struct ServiceLimits: Sendable {
  /// Maximum number of connected clients.
  public var sessions = 1_000
  /// Maximum number of connections that wait to be accepted; see listen(2).
  public var backlog: CInt = 512
  /// Time limit for a client's hello.
  public var hello: TimeSpan = .seconds(5)
  /// Time for which a client may be silent in the middle of a frame or a line.
  public var midFrame: TimeSpan = .seconds(10)
  /// Interval at which ``hello`` and ``midFrame`` are checked, while a client has sent no hello or an incomplete
  /// message.
  public var check: TimeSpan = .seconds(2)
  /// Maximum body of a frame in bytes, in either direction.
  public var frame = FrameLimits.control
  /// Maximum length of a line in bytes, in either direction, for clients that use lines; nil to allow only
  /// frames.
  public var line: Int?
  /// Pending output of one client in bytes, above which the client is disconnected.
  public var unread = 8 << 20
  /// True to accept all users that may connect to the socket's file, instead of only the user of this process
  /// and root.
  public var acceptsOtherUsers = false
  /// Pending output of one client in bytes, from which on its next request is not handled. The limit is lower if
  /// many clients are connected.
  public var requestBacklogLimit = 256 << 10
  /// Pending output of all clients together in bytes, above which a ``ServiceSocket`` disconnects the clients
  /// with the most pending output.
  public var totalBacklogLimit = 24 << 20
  /// Number of open requests of one client, from which on its input is not read.
  public var openRequests = 64
  /// Maximum number of subscriptions among the open requests of one client.
  public var openSubscriptions = 4

  public init() {}
}
