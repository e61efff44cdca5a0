// Owns how much a server's clients may have of it: how many they are, how long they may take, how much may wait for them.
// Invariant: each limit is above what a client of this build ever needs, so only a broken or hostile one meets it.
import Glibc
import Time
import Wire

/// The limits on the clients of a server.
public struct ServiceLimits: Sendable {
  /// Clients at the same time.
  public var sessions = 1_000
  /// Connections that wait to be accepted.
  public var backlog: CInt = 512
  /// How long a client may take to say hello.
  public var hello: TimeSpan = .seconds(5)
  /// How long a client may be silent in the middle of a frame.
  public var midFrame: TimeSpan = .seconds(10)
  /// How often the two are looked at, while there are clients.
  public var check: TimeSpan = .seconds(2)
  /// The longest body of a frame, in either direction.
  public var frame = FrameLimits.control
  /// The longest line, in either direction, of clients that speak in lines; nil where all speak in frames.
  public var line: Int?
  /// Bytes that may wait for a client that does not read.
  public var unread = 8 << 20
  /// Whether whoever may open the socket's file is let in, and not its owner and root alone.
  public var admitsOthers = false
  /// Bytes that may wait for a client when its next request is heard; fewer where many are connected.
  public var heardWhileUnread = 256 << 10
  /// Bytes that may wait for all clients together, before those who read least are let go.
  public var unreadInAll = 24 << 20
  /// Requests of one client that may be without an answer; with so many it is not heard.
  public var openRequests = 64
  /// Those of them that follow. Another one shows nothing that the first does not.
  public var openViews = 4

  public init() {}
}
