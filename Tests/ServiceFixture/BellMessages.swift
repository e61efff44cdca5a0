// The messages of a third service for tests, as small as possible: all that its clients need is here.

import Transport
import Wire

/// Requests to a bell.
public enum BellCommand: Int, ServiceCommand {
  case look = 1
  case ring = 2
  case audit = 3
  case follow = 4

  public typealias Answer = BellAnswer
  public typealias Cursor = BellCursor

  public static var serviceName: String { "the bell" }
  public var changesSomething: Bool { self == .ring }
  public var isLong: Bool { self == .audit }
}

/// The number of rings of the bell; nil if it could not be stored.
public struct BellAnswer: Codable, Sendable, Equatable {
  public var rings: Int64?

  public init(rings: Int64? = nil) { self.rings = rings }

  enum CodingKeys: Int, CodingKey { case rings = 1 }
}

/// A follower of the bell receives every ring, and the present number again after each lost connection.
public struct BellCursor: SubscriptionCursor {
  public init() {}

  public var request: BellCommand { .follow }

  public mutating func handle(_ answer: BellAnswer) -> SubscriptionStep<Int64> {
    answer.rings.map { .news($0) } ?? .nothing
  }
}
