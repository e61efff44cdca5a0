// One page of a browser: navigation, evaluation of scripts, and waiting for a state.
// Invariant: a wait continues in the new document after a navigation.
// Errors: `BrowserError`. After a failed wait it contains the end of the page's text.
import Posix
import Time

/// A page in a browser. The page is closed when the value is released.
package final class Page {
  let browser: Browser
  /// Id of the connection to the page in the DevTools protocol.
  let session: String
  /// Id of the page in the DevTools protocol.
  let target: String
  /// Browser context of the page.
  package let context: Browser.Context
  /// Requests, errors and alerts of the page.
  package private(set) var log = PageLog()
  /// True if confirmation dialogs of the page are accepted, and false if they are dismissed.
  package var acceptsAlerts = true
  /// Loader ids of the loaded documents.
  private var loaded: Set<String> = []

  init(_ browser: Browser, session: String, target: String, context: Browser.Context) {
    self.browser = browser
    self.session = session
    self.target = target
    self.context = context
  }

  deinit {
    browser.forget(session)
    try? browser.send("Page.close", [:], session: session)
  }

  /// Prepares a new page: makes the browser report its events, and sets its window size.
  func prepare() throws(BrowserError) {
    for domain in ["Page", "Runtime", "Network", "Log"] { try ask("\(domain).enable") }
    try ask("Page.setLifecycleEventsEnabled", ["enabled": true])
    // Every page counts as focused, because several are open at the same time.
    try ask("Emulation.setFocusEmulationEnabled", ["enabled": true])
    try setViewport(width: 1280, height: 800)
  }

  /// Sends a request about this page and waits for the answer.
  @discardableResult
  func ask(_ method: String, _ parameters: JSONValue = [:]) throws(BrowserError) -> JSONValue {
    try browser.ask(method, parameters, session: session)
  }

  /// Handles an event of the browser about this page.
  func handle(_ event: String, _ parameters: JSONValue) throws(BrowserError) {
    log.handle(event, parameters)
    switch event {
    case "Page.lifecycleEvent" where parameters["name"].text == "load":
      loaded.insert(parameters["loaderId"].text ?? "")
    case "Page.javascriptDialogOpening":
      try browser.send("Page.handleJavaScriptDialog", ["accept": .flag(acceptsAlerts)], session: session)
    default: break
    }
  }

  /// Navigates to an address and waits until the document and its resources are loaded.
  ///
  /// - Returns: the request of the document with its status; nil if the browser reported no status.
  @discardableResult
  package func go(to url: String) throws(BrowserError) -> PageRequest? {
    let before = log.requests.count
    let answer = try ask("Page.navigate", ["url": .text(url)])
    // A response without a document is not an error here: its status is the result.
    if let failure = answer["errorText"].text, failure != "net::ERR_HTTP_RESPONSE_CODE_FAILURE" {
      throw BrowserError("\(url): \(failure)")
    }
    if let loader = answer["loaderId"].text {
      let deadline = SystemClock.monotonic() + Browser.timeout
      guard try browser.collectEvents(until: deadline, for: { loaded.contains(loader) }) else {
        throw BrowserError("\(url) is not loaded within \(Browser.timeout.milliseconds) ms: \(log.requests)")
      }
    }
    return log.requests[before...].last { $0.kind == "Document" && $0.status != nil }
  }

  /// Loads the document again, and returns its request as ``go(to:)`` does.
  @discardableResult
  package func reload() throws(BrowserError) -> PageRequest? { try go(to: try text("location.href")) }

  /// Evaluates a JavaScript expression. If the value is a promise, awaits it.
  @discardableResult
  package func evaluate(_ expression: String) throws(BrowserError) -> JSONValue {
    let answer = try ask(
      "Runtime.evaluate",
      [
        "expression": .text(expression), "returnByValue": true, "awaitPromise": true, "userGesture": true,
      ])
    guard answer["exceptionDetails"].isNull else {
      let details = answer["exceptionDetails"]
      throw BrowserError(
        "\(expression): \(details["exception"]["description"].text ?? details["text"].text ?? "failed")")
    }
    return answer["result"]["value"]
  }

  /// Evaluates a JavaScript expression whose value is a text; "" for another value.
  package func text(_ expression: String) throws(BrowserError) -> String {
    try evaluate(expression).text ?? ""
  }

  /// Text of the first element that matches a selector; nil if none does.
  package func text(of selector: String) throws(BrowserError) -> String? {
    try evaluate("document.querySelector(\(JSONValue.text(selector)))?.textContent.trim()").text
  }

  /// Number of elements that match a selector.
  package func count(_ selector: String) throws(BrowserError) -> Int {
    try evaluate("document.querySelectorAll(\(JSONValue.text(selector))).length").integer ?? 0
  }

  /// Evaluates a JavaScript condition. If the evaluation fails and the browser is alive, for example because the
  /// document was replaced, the condition counts as false, and the reason is returned.
  private func evaluateCondition(_ expression: String) throws(BrowserError) -> (isTrue: Bool, why: String?) {
    do throws(BrowserError) { return (try evaluate("Boolean(\(expression))").flag == true, nil) } catch {
      guard try browser.isAlive() else { throw error }
      return (false, error.description)
    }
  }

  /// True if a JavaScript expression is true now.
  package func shows(_ expression: String) throws(BrowserError) -> Bool {
    try evaluateCondition(expression).isTrue
  }

  /// Waits until a JavaScript expression is true; throws if it is not true within the limit.
  ///
  /// - Parameter limit: maximum wait.
  package func wait(
    for expression: String, within limit: TimeSpan = Browser.timeout
  ) throws(BrowserError) {
    let deadline = SystemClock.monotonic() + limit
    while true {
      let (isTrue, why) = try evaluateCondition(expression)
      if isTrue { return }
      let now = SystemClock.monotonic()
      guard now < deadline else {
        let seen = (try? text("document.body?.innerText ?? ''")) ?? ""
        throw BrowserError(
          "\(expression) is not true within \(limit.milliseconds) ms at \((try? text("location.href")) ?? "?"):\n"
            + "\(why ?? "")\n\(seen.suffix(2_000))\ncomplaints: \(log.errors)")
      }
      // Handles events for a moment before the next check.
      _ = try browser.collectEvents(until: now + .milliseconds(10)) { false }
    }
  }

  /// Waits for one answer of the page, so that all events that it sent before are stored in ``log``.
  package func awaitPendingEvents() throws(BrowserError) { try ask("Runtime.evaluate", ["expression": "0"]) }

  /// Clears the log of the page.
  package func forget() { log = PageLog() }
}
