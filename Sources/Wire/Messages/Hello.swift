// Owns the first words on any connection: who speaks, in which version of the protocol, from which build.
// It knows no socket. The shapes of `Hello` and `Refusal` never change, in no version of the protocol,
// because they are what a program of another version must still understand.

/// The version of the protocol that this build speaks. It is raised with every change that an older program
/// would misunderstand; a new key that an older program may skip does not raise it.
public let protocolVersion: UInt32 = 1

/// Who opens a connection.
public enum PeerRole: UInt8, Sendable, Codable {
  /// A client that asks and orders: `bankctl`.
  case client = 1
  /// A teller at a window.
  case teller = 2
  /// The stock service, to the coordinator that supervises it.
  case stock = 3
  /// A juice station.
  case juice = 4
  /// A vending machine, to the coordinator that supervises it.
  case vending = 5
  /// A runner of commands at a window.
  case runner = 6
  /// A worker that need not be of this build: a program in any language.
  case worker = 7
  /// The server of the page, to the coordinator that supervises it.
  case web = 8
}

/// The first message on any connection.
public struct Hello: Codable, Sendable, Equatable {
  /// The sender's ``protocolVersion``.
  public var version: UInt32
  /// The sender's build.
  public var build: String
  /// What the sender is.
  public var role: PeerRole
  /// What a worker offers; nil for others. Hellos are handed on with every message's enumeration, and so it is held by a
  /// reference.
  public var offer: WorkerOffer? { heldOffer?.value }
  private var heldOffer: Held<WorkerOffer>?

  /// - Parameter offer: a worker's; left out of what others say.
  public init(
    version: UInt32 = protocolVersion, build: String, role: PeerRole, offer: WorkerOffer? = nil
  ) {
    (self.version, self.build, self.role) = (version, build, role)
    heldOffer = offer.map { Held($0) }
  }
  /// What is said to whoever speaks another version.
  public var otherVersion: String {
    "version \(version) was spoken, version \(protocolVersion) is understood"
  }

  enum CodingKeys: Int, CodingKey { case version = 1, build, role, heldOffer }
  private enum FirstKeys: Int, CodingKey { case version = 1, build, role }

  /// Only a worker's hello has an offer; all others keep the shape that they have always had.
  public func encode(to encoder: any Encoder) throws {
    if role == .worker {
      var map = encoder.container(keyedBy: CodingKeys.self)
      try map.encode(version, forKey: .version)
      try map.encode(build, forKey: .build)
      try map.encode(role, forKey: .role)
      try map.encodeIfPresent(offer, forKey: .heldOffer)
    } else {
      var map = encoder.container(keyedBy: FirstKeys.self)
      try map.encode(version, forKey: .version)
      try map.encode(build, forKey: .build)
      try map.encode(role, forKey: .role)
    }
  }
}

/// The answer to a hello that was accepted on the control socket.
public struct Welcome: Codable, Sendable, Equatable {
  /// The coordinator's ``protocolVersion``.
  public var version: UInt32
  /// The coordinator's build.
  public var build: String

  public init(version: UInt32 = protocolVersion, build: String) {
    (self.version, self.build) = (version, build)
  }
  enum CodingKeys: Int, CodingKey { case version = 1, build }
}

/// Why a connection ends. The last message on it.
public struct Refusal: Codable, Sendable, Equatable {
  /// A reason with a name of its own.
  public enum Reason: UInt8, Sendable, Codable {
    /// Another version of the protocol.
    case version = 1
    /// Another build, where the build must be the same.
    case build = 2
    /// No hello, or not in time.
    case hello = 3
    /// A message that is malformed, too large, or out of turn.
    case malformed = 4
    /// There are as many connections as there may be.
    case crowded = 5
    /// The service ends as it was asked to. Of what was asked on this connection and not answered nothing was changed.
    case closing = 6
    /// A service that is not there for whoever names it.
    case service = 7
  }

  /// Why.
  public var reason: Reason
  /// What the coordinator speaks.
  public var version: UInt32
  /// The coordinator's build.
  public var build: String
  /// The rest, in English, for a log.
  public var detail: String

  public init(reason: Reason, version: UInt32 = protocolVersion, build: String, detail: String) {
    (self.reason, self.version, self.build, self.detail) = (reason, version, build, detail)
  }
  enum CodingKeys: Int, CodingKey { case reason = 1, version, build, detail }
}

/// A message without content: only its kind speaks.
struct Nothing: Codable {}

/// One value that may be left open.
struct Chosen<Value: Codable>: Codable {
  var value: Value?
  enum CodingKeys: Int, CodingKey { case value = 1 }
}

extension KeyedDecodingContainer {
  /// The kind of a message, which is its only field.
  ///
  /// - Parameter addition: A field that may stand beside the kind.
  /// - Throws: where a message has no kind, several, or one that this build does not know.
  func onlyKind(beside addition: Key? = nil) throws -> Key {
    // Asked once: the list is made anew for every question.
    var kinds = allKeys
    if let addition { kinds.removeAll { $0.intValue == addition.intValue } }
    guard kinds.count == 1 else {
      throw DecodingError.dataCorrupted(
        .init(codingPath: codingPath, debugDescription: "a message has exactly one known kind"))
    }
    return kinds[0]
  }

  /// A message of a kind that carries nothing.
  func bare<Message>(_ kind: Key, _ message: Message) throws -> Message {
    _ = try decode(Nothing.self, forKey: kind)
    return message
  }
}
