// Owns what a client of a vending machine knows of it beyond its messages: its two sockets, and what a viewer has seen.
// Everything that clients do is ServiceClient's.
// Invariant: a viewer is told a picture first, and then only what comes behind what it was told.

import Transport
import Wire

/// A client of a vending machine.
public typealias VendingClient = ServiceClient<VendingCommand>
/// Why there is no answer from a vending machine.
public typealias VendingClientError = ServiceClientError<VendingCommand>

extension VendingCommand: ServiceCommand {
  /// What a vending machine answers.
  public typealias Answer = VendingResult
  /// What a viewer of a vending machine has seen.
  public typealias View = VendingView

  /// What the machine is called in a log.
  public static var serviceName: String { "the vending machine" }
  /// Whether every row is counted for the answer.
  public var isLong: Bool { self == .audit }
}

extension ServiceClient where Command == VendingCommand {
  /// The customers' socket in the home of a bank.
  public static func customersSocket(inHome home: String) -> String {
    ServiceHome(path: home, name: "vending").socket
  }

  /// The manager's socket in the home of a bank.
  public static func managersSocket(inHome home: String) -> String {
    ServiceHome(path: home, name: "vending-admin").socket
  }

  /// Follows the machine: a picture, and then everything that changes; after a lost connection a new picture. One view
  /// at a time; another one takes its place.
  public func follow(_ hear: @escaping (VendingNotice) -> Void) { follow(VendingView(), hear) }
}

/// What a viewer of a vending machine is told.
public enum VendingNotice: Sendable, Equatable {
  /// The machine as it is; what was known before is forgotten.
  case picture(VendingPicture)
  /// What has changed since.
  case news(VendingNews)
  /// The machine does not show itself.
  case refused(VendingFailure)
}

/// What a viewer of a vending machine has seen.
public struct VendingView: ServiceView {
  /// The last change of the money that was told; nil before the first picture.
  private var seen: Int64?

  /// The view of somebody who has seen nothing.
  public init() {}

  /// The machine as it is, and everything from then on: whoever comes back begins with a new picture.
  public var question: VendingCommand { .follow }

  /// Takes what the machine tells.
  public mutating func hear(_ answer: VendingResult) -> ViewStep<VendingNotice> {
    switch answer {
    case .picture(let picture):
      seen = picture.sequence
      return .news(.picture(picture))
    case .news(var news):
      // What was shown before is not told again, whatever the machine thinks. Drinks come and go without money.
      guard let seen, news.sequence >= seen else { return .nothing }
      news.purchases.removeAll { $0.sequence <= seen }
      self.seen = news.sequence
      return .news(.news(news))
    // A new picture has everything that was not told.
    case .failure(let failure) where failure.code == .tooSlow: return .askAgain
    case .failure(let failure): return .news(.refused(failure))
    default: return .nothing
    }
  }
}
