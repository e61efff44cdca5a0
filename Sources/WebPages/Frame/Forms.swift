// Owns the names of what the forms of the pages send, for the server that reads them. Every form has `key`; the script puts a fresh one
// in before each press, so that two presses are two requests and one that is sent again is one. Behind a form without a script the
// server answers 303 to the page with `?said=CODE` (``Notice/code``); for the script (`Accept: application/json`) with
// ``Notice/json(_:to:)`` and 200 or 4xx. Invariant: what stands here is what the pages send; the tests look for every one of them.
//
// /customers             count, from (bank, kiosk), and from the kiosk service ("" for chance), grade, payload.
//                        With from=kiosk and one customer the answer leads to /ticket/N?day=D.
// /reset                 GET asks (``ConfirmPage``); POST day, confirmed=1, back
// /tickets/cancel        day, and ticket, repeated; or all=COUNT with the filter: service, state, after. Without `confirmed` the
// /tickets/requeue       answer is a ``ConfirmPage``, for the script too, which asks for HTML then; with the `confirmed` of that page
//                        (``Confirmed``) it is done, unless the day is another one by now (``Refusal/dayChanged``). back
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

/// Where forms are sent.
public enum FormAction: String, Sendable, CaseIterable {
  case customers = "/customers"
  case reset = "/reset"
  case cancel = "/tickets/cancel"
  case requeue = "/tickets/requeue"
  case pause = "/windows/pause"
  case resume = "/windows/resume"
  case scale = "/windows/scale"
  case end = "/windows/end"
  case juice = "/juice"
  case stock = "/stock"
  case insert = "/vending/insert"
  case buy = "/vending/buy"
  case change = "/vending/return"
  case managerLogin = "/vending/admin/login"
  case restock = "/vending/admin/add"
  case discard = "/vending/admin/discard"
  case language = "/language"
  case theme = "/theme"

  /// The names that the form sends beside `key` and `back`, which every form may have.
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

  /// The names that may be there several times.
  public var repeated: Set<String> { fields.intersection(["ticket"]) }
}
