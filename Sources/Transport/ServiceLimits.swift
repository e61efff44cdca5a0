// Limits on a server's clients: number, time, and pending data.
// Invariant: each limit is above the needs of any client of this build, so only a broken or hostile client
// reaches it.
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
  /// Time for which a client may be silent in the middle of a frame.
  public var midFrame: TimeSpan = .seconds(10)
  /// Interval at which these two limits are checked, while a client has sent no hello or an incomplete frame.
  public var check: TimeSpan = .seconds(2)
  /// Maximum body of a frame in bytes, in either direction.
  public var frame = FrameLimits.control
  /// Maximum length of a line in bytes, in either direction, for clients that use lines; nil to allow only
  /// frames.
  public var line: Int?
  /// Pending output of one client in bytes, above which the client is disconnected.
  public var unread = 8 << 20
  /// True to accept all users that may open the socket's file, instead of only its owner and root.
  public var admitsOthers = false
  /// Pending output of one client in bytes, above which its next request is not handled. The limit is lower if
  /// many clients are connected.
  public var heardWhileUnread = 256 << 10
  /// Pending output of all clients together in bytes, above which the slowest clients are disconnected.
  public var unreadInAll = 24 << 20
  /// Number of open requests of one client, from which on its input is not read.
  public var openRequests = 64
  /// Maximum number of subscriptions among the open requests of one client. A further subscription of the same
  /// client would receive the same answers.
  public var openViews = 4

  public init() {}
}
