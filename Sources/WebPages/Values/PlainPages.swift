// Owns the pages that show no state of the branch: what has to be confirmed, what failed, and where somebody has to log in
// first. Invariant: nothing here changes by itself, so none of them has a region.
import BankModel

/// What has to be confirmed before it is done.
public enum Confirmation: Sendable, Equatable {
  /// The queue is emptied.
  case reset(day: Int64, waiting: Int64, serving: Int64)
  /// Customers are taken out, by number.
  case cancel([TicketNumber], Confirmed)
  /// Dead letters go back to the line, by number.
  case requeue([TicketNumber], Confirmed)
  /// All of a filter are taken out.
  case cancelAll(RecordFilter, Confirmed)
  /// All dead letters of a filter go back to the line.
  case requeueAll(RecordFilter, Confirmed)
  /// The teller at a window is ended.
  case end(window: String, generation: Int32, pid: Int32)
}

/// Asks before something that cannot be taken back.
public struct ConfirmPage: WebPage {
  /// What.
  public var confirmation: Confirmation
  /// Where "no" leads: a path of this server.
  public var back: String

  public init(confirmation: Confirmation, back: String) {
    (self.confirmation, self.back) = (confirmation, back)
  }
}

/// For whoever has no cookie: how to get a link.
public struct LoginPage: WebPage {
  /// Whether a link was followed that had been used.
  public var wasUsed: Bool

  public init(wasUsed: Bool = false) {
    self.wasUsed = wasUsed
  }
}

/// Asks for a page once more, from here: a link of another site came without the cookie.
public struct ElsewherePage: WebPage {
  /// The address that was asked for.
  public var address: String

  public init(address: String) { self.address = address }
}

/// What could not be shown or done.
public struct ErrorPage: WebPage {
  /// The HTTP status.
  public var status: Int
  /// What it was about, in words.
  public var detail: String?

  public init(status: Int, detail: String? = nil) {
    (self.status, self.detail) = (status, detail)
  }
}
