// Paths and field names of the pages' forms that ``FormAction`` names, for the server that reads them. Every form but
// those of language and theme has the idempotency key `key`. The script sets a new key at each press: two presses are
// two requests, and a repeated request is a duplicate. Without scripts the server answers 303 to the page with
// `?notice=CODE` (``Notice/code``). To the script (`Accept: application/json`) it answers with
// ``Notice/json(_:to:because:)`` and an HTTP status.
//
// /customers: `from` is `bank` or `kiosk`; an empty `service` of the kiosk means a random one. With from=kiosk and one
// customer the answer leads to /ticket/N?day=D.
// /reset: GET shows ``ConfirmPage``.
// /tickets/cancel, /tickets/requeue: `ticket`, repeated; or `all` (1 or more) with the filter. Without `confirmed` the
// answer is a ``ConfirmPage``, also for the script, which then asks for HTML. With the `confirmed` of that page
// (``ConfirmationToken``) the command is executed, unless the day has changed (``Refusal/dayChanged``).
// /vending/admin/add: `made` and `expires` as 2026-03-01.

/// Action that a form of a page requests; the raw value is its path.
public enum FormAction: String, Sendable, CaseIterable {
  case customers = "/customers"
  case reset = "/reset"
  case cancel = "/tickets/cancel"
  case requeue = "/tickets/requeue"
  case pause = "/windows/pause"
  case resume = "/windows/resume"
  case scale = "/windows/scale"
  /// Kills a worker.
  case end = "/windows/end"
  case juice = "/juice"
  case stock = "/stock"
  case insert = "/vending/insert"
  case buy = "/vending/buy"
  /// Returns the inserted money.
  case change = "/vending/return"
  case managerLogin = "/vending/admin/login"
  case restock = "/vending/admin/add"
  case discard = "/vending/admin/discard"
  case language = "/language"
  case theme = "/theme"

  /// Field names of the form besides `key` and `back`.
  public var fields: Set<String> {
    switch self {
    case .customers: ["count", "from", "service", "grade", "payload"]
    case .reset: ["day", "confirmed"]
    case .cancel, .requeue: ["ticket", "day", "all", "service", "state", "after", "confirmed"]
    case .pause, .resume: ["service"]
    case .scale: ["service", "windows"]
    case .end: ["window", "generation", "pid", "confirmed"]
    case .juice: ["juice"]
    case .stock: ["item", "change", "quantity"]
    case .insert: ["amount"]
    case .buy: ["product"]
    case .change, .discard: []
    case .managerLogin: ["code"]
    case .restock: ["product", "count", "made", "expires"]
    case .language: ["lang"]
    case .theme: ["theme"]
    }
  }

  /// Field names that may be repeated.
  public var repeated: Set<String> { fields.intersection(["ticket"]) }
}
