// Limits on a server's clients: number, time, and pending data.
// Invariant: each limit is above the needs of any client of this build, so only a broken or hostile client
// reaches it.
import Glibc
import Time
import Wire

/// Limits on a server's clients.
public struct ServiceLimits: Sendable {
  /// Clients at the same time.
  public var sessions = 1_000
  /// Connections that wait to be accepted.
  public var backlog: CInt = 512
  /// Time limit for a client's hello.
  public var hello: TimeSpan = .seconds(5)
  /// Time for which a client may be silent in the middle of a frame.
  public var midFrame: TimeSpan = .seconds(10)
  /// Interval of the checks of these two limits, while there are clients.
  public var check: TimeSpan = .seconds(2)
  /// Maximum body of a frame in bytes, in either direction.
  public var frame = FrameLimits.control
  /// Maximum line in bytes, in either direction, for clients that use lines; nil to allow only frames.
  public var line: Int?
  /// Limit in bytes of the output for one client that does not read.
  public var unread = 8 << 20
  /// True to accept any user that may open the socket's file, instead of only its owner and root.
  public var admitsOthers = false
  /// Limit in bytes of a client's pending output for handling its next request; lower if many clients are
  /// connected.
  public var heardWhileUnread = 256 << 10
  /// Limit in bytes of the pending output of all clients together; above it the slowest clients are
  /// disconnected.
  public var unreadInAll = 24 << 20
  /// Open requests of one client, above which its input is not read.
  public var openRequests = 64
  /// Maximum number of subscriptions among the open requests of one client. A further subscription would
  /// show nothing new.
  public var openViews = 4

  public init() {}
}
