// Values of pages without state of the bank: confirmation, login, repeated navigation, error.
// Invariant: none of them changes, so none has changing regions of its own.
import BankModel

/// A command that needs a confirmation.
public enum Confirmation: Sendable, Equatable {
  /// Reset the day: cancel all customers and start at ticket 1 again.
  case reset(day: Int64, waiting: Int64, serving: Int64)
  /// Cancel customers by their ticket numbers.
  case cancel([TicketNumber], ConfirmationToken)
  /// Requeue dead letters by their ticket numbers.
  case requeue([TicketNumber], ConfirmationToken)
  /// Cancel all customers that match a filter.
  case cancelAll(RecordFilter, ConfirmationToken)
  /// Requeue all dead letters that match a filter.
  case requeueAll(RecordFilter, ConfirmationToken)
  /// Kill the worker at a window.
  case end(window: String, generation: Int32, pid: Int32)
}

/// Confirmation of a command that changes many customers or ends a process.
public struct ConfirmPage: WebPage {
  /// The command.
  public var confirmation: Confirmation
  /// Target of the answer "no": a path of this server.
  public var back: String

  public init(confirmation: Confirmation, back: String) {
    (self.confirmation, self.back) = (confirmation, back)
  }
}

/// Page for a visitor without a session: how to get a login link.
public struct LoginPage: WebPage {
  /// True if the visitor followed a link that is not valid.
  public var wasUsed: Bool

  public init(wasUsed: Bool = false) {
    self.wasUsed = wasUsed
  }
}

/// Page that makes the browser repeat a request from this site. The browser omits the cookie if the user follows a link
/// on another site.
public struct CrossSitePage: WebPage {
  /// The requested address.
  public var address: String

  public init(address: String) { self.address = address }
}

/// An error page.
public struct ErrorPage: WebPage {
  /// HTTP status.
  public var status: Int
  /// Subject of the error.
  public var detail: String?

  public init(status: Int, detail: String? = nil) {
    (self.status, self.detail) = (status, detail)
  }
}
