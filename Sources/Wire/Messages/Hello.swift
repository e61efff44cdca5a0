// First messages on any connection: role, protocol version and build of the sender.
// Invariant: the numbered fields of `Refusal`, and of the `Hello` of a role other than worker, must not change,
// because a program of another protocol version must still understand them.

/// Protocol version of this build. Raise it with every change that an older program would misunderstand. A new
/// key that an older program may skip needs no new version.
public let protocolVersion: UInt32 = 1

/// Role of the process that opens a connection.
public enum PeerRole: UInt8, Sendable, Codable {
  /// A client that sends requests, such as `bankctl`.
  case client = 1
  /// A teller at a window.
  case teller = 2
  /// The stock service, on its connection to the coordinator that supervises it.
  case stock = 3
  /// A juice station.
  case juice = 4
  /// A vending machine, on its connection to the coordinator that supervises it.
  case vending = 5
  /// A runner of commands at a window.
  case runner = 6
  /// A program in any language, which need not be of this build.
  case worker = 7
  /// The web server, on its connection to the coordinator that supervises it.
  case web = 8
}

/// The first message on any connection.
public struct Hello: Codable, Sendable, Equatable {
  /// The sender's ``protocolVersion``.
  public var version: UInt32
  /// Build of the sender.
  public var build: String
  /// Role of the sender.
  public var role: PeerRole
  /// A worker's offer; nil for other roles. It is stored by reference, because a larger hello would enlarge the
  /// enumerations of messages that contain it.
  public var offer: WorkerOffer? { indirectOffer?.value }
  private var indirectOffer: Indirect<WorkerOffer>?

  /// - Parameter offer: a worker's offer; nil for other roles.
  public init(
    version: UInt32 = protocolVersion, build: String, role: PeerRole, offer: WorkerOffer? = nil
  ) {
    (self.version, self.build, self.role) = (version, build, role)
    indirectOffer = offer.map { Indirect($0) }
  }
  /// Text of the refusal for the sender of this hello, if the sender's protocol version differs.
  public var otherVersion: String {
    "protocol version \(version) is not supported; this program uses version \(protocolVersion)"
  }

  /// Field number of each property of a hello, in messages.
  enum CodingKeys: Int, CodingKey { case version = 1, build, role, indirectOffer }
  /// Field numbers of a hello without an offer.
  private enum BaseKeys: Int, CodingKey { case version = 1, build, role }

  /// A worker's hello may contain an offer. Other hellos keep their original shape.
  public func encode(to encoder: any Encoder) throws {
    if role == .worker {
      var map = encoder.container(keyedBy: CodingKeys.self)
      try map.encode(version, forKey: .version)
      try map.encode(build, forKey: .build)
      try map.encode(role, forKey: .role)
      try map.encodeIfPresent(offer, forKey: .indirectOffer)
    } else {
      var map = encoder.container(keyedBy: BaseKeys.self)
      try map.encode(version, forKey: .version)
      try map.encode(build, forKey: .build)
      try map.encode(role, forKey: .role)
    }
  }
}

/// The answer to a client's hello that the coordinator or a service has accepted.
public struct Welcome: Codable, Sendable, Equatable {
  /// The sender's ``protocolVersion``.
  public var version: UInt32
  /// Build of the sender.
  public var build: String

  public init(version: UInt32 = protocolVersion, build: String) {
    (self.version, self.build) = (version, build)
  }
  /// Field number of each property of a welcome, in messages.
  enum CodingKeys: Int, CodingKey { case version = 1, build }
}

/// The last message on a connection: the reason why the sender ends it.
public struct Refusal: Codable, Sendable, Equatable {
  /// Reason of a refusal.
  public enum Reason: UInt8, Sendable, Codable {
    /// The peers use different versions of the protocol.
    case version = 1
    /// The builds differ, and have to be equal for this role.
    case build = 2
    /// The first message was not a hello, the hello has a role or content that is not accepted at this socket,
    /// or no hello arrived in time.
    case hello = 3
    /// A message is malformed, too large, incomplete for too long, or not allowed at this point of the protocol.
    case malformed = 4
    /// The maximum number of connections is reached, or no file descriptor is left.
    case crowded = 5
    /// A service ends as requested, and unanswered requests of this connection have changed nothing; or, for a
    /// worker, the bank is closing.
    case closing = 6
    /// A service in the worker's offer does not exist, or does not accept outside workers.
    case service = 7
  }

  /// Reason of this refusal.
  public var reason: Reason
  /// Protocol version of the sender.
  public var version: UInt32
  /// Build of the sender.
  public var build: String
  /// Details in English, for a log. A worker receives them as the text of the refusal.
  public var detail: String

  public init(reason: Reason, version: UInt32 = protocolVersion, build: String, detail: String) {
    (self.reason, self.version, self.build, self.detail) = (reason, version, build, detail)
  }
  /// Field number of each property of a refusal, in messages.
  enum CodingKeys: Int, CodingKey { case reason = 1, version, build, detail }
}

/// The content of a message that consists only of its kind.
struct EmptyMessage: Codable {}

/// The content of a message that consists of an optional value.
struct OptionalValue<Value: Codable>: Codable {
  var value: Value?
  /// Field number of each property of an optional value, in messages.
  enum CodingKeys: Int, CodingKey { case value = 1 }
}

extension KeyedDecodingContainer {
  /// The kind of a message, which is its only field, except for an optional field `addition`.
  ///
  /// - Parameter addition: field that may occur beside the kind.
  /// - Throws: an error if a message has no known kind, or several. Unknown field numbers are ignored.
  func singleKind(beside addition: Key? = nil) throws -> Key {
    // `allKeys` makes a new list at every call, so it is read once.
    var kinds = allKeys
    if let addition { kinds.removeAll { $0.intValue == addition.intValue } }
    guard kinds.count == 1 else {
      throw DecodingError.dataCorrupted(
        .init(codingPath: codingPath, debugDescription: "a message has exactly one known kind"))
    }
    return kinds[0]
  }

  /// Checks that the content of a kind can be read as an empty one, and returns `message`.
  func emptyMessage<Message>(_ kind: Key, _ message: Message) throws -> Message {
    _ = try decode(EmptyMessage.self, forKey: kind)
    return message
  }
}
