// Paths and field names of the pages' forms that ``FormAction`` names, for the server that reads them. Every form but
// those of language and theme has the idempotency key `key`. The script sets a new key at each press: two presses are
// two requests, and a repeated request is a duplicate. Without scripts the server answers 303 to the page with
// `?notice=CODE` (``Notice/code``). To the script (`Accept: application/json`) it answers with
// ``Notice/json(_:to:because:)`` and an HTTP status.
// Invariant: the list is complete; the tests search the pages for every name.
//
// /customers             count, from (bank, kiosk), and from the kiosk service ("" for random), grade, payload.
//                        With from=kiosk and one customer the answer leads to /ticket/N?day=D.
// /reset                 GET shows ``ConfirmPage``; POST day, confirmed=1, back
// /tickets/cancel        day, and ticket, repeated; or all (1 or more) with the filter: service, state, after.
// /tickets/requeue       Without `confirmed` the answer is a ``ConfirmPage``, also for the script, which then
//                        asks for HTML. With the `confirmed` of that page (``ConfirmationToken``) the command is
//                        executed, unless the day has changed (``Refusal/dayChanged``). back
// /windows/pause, resume service
// /windows/scale         service, windows
// /windows/end           window, generation, pid
// /juice                 juice
// /stock                 item and change, or item and quantity
// /vending/insert        amount
// /vending/buy           product
// /vending/return        nothing
// /vending/admin/login   code
// /vending/admin/add     product, count, made and expires as 2026-03-01
// /vending/admin/discard nothing
// /language, /theme      lang or theme, back; neither has a key

/// Action that a form of a page requests, such as adding customers; the raw value is its path.
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

  /// Field names of the form besides `key` and `back`, which every form may have.
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
