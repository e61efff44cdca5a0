// Owns one page of a browser: where it is, what is evaluated in it, and waiting for what it shows.
// Invariant: a page that goes somewhere else while it is asked is asked again where it has arrived; nothing waits for ever.
// Failure: BrowserError, with the end of what the page shows where something was waited for in vain.
import Posix
import Time

/// A page in a browser; closed with the value.
package final class Page {
  let browser: Browser
  let session: String
  let target: String
  /// Whose page it is.
  package let person: Browser.Person
  /// What happened in it.
  package private(set) var log = PageLog()
  /// What is answered to a question that stops the page.
  package var acceptsAlerts = true
  /// The documents that are loaded whole, by the names of their loaders.
  private var loaded: Set<String> = []

  init(_ browser: Browser, session: String, target: String, person: Browser.Person) {
    self.browser = browser
    self.session = session
    self.target = target
    self.person = person
  }

  deinit {
    browser.forget(session)
    try? browser.tell("Page.close", [:], session: session)
  }

  func prepare() throws(BrowserError) {
    for domain in ["Page", "Runtime", "Network", "Log"] { try ask("\(domain).enable") }
    try ask("Page.setLifecycleEventsEnabled", ["enabled": true])
    // Every page believes that it has the person's attention: several are open at once.
    try ask("Emulation.setFocusEmulationEnabled", ["enabled": true])
    try view(width: 1280, height: 800)
  }

  @discardableResult
  func ask(_ method: String, _ parameters: JSONValue = [:]) throws(BrowserError) -> JSONValue {
    try browser.ask(method, parameters, session: session)
  }

  func note(_ event: String, _ facts: JSONValue) throws(BrowserError) {
    log.note(event, facts)
    switch event {
    case "Page.lifecycleEvent" where facts["name"].text == "load":
      loaded.insert(facts["loaderId"].text ?? "")
    case "Page.javascriptDialogOpening":
      try browser.tell("Page.handleJavaScriptDialog", ["accept": .flag(acceptsAlerts)], session: session)
    default: break
    }
  }

  /// Goes to an address and waits until the document is loaded with everything that belongs to it.
  ///
  /// - Returns: the answer that the document came with; of a file or a document in the address itself there is none.
  @discardableResult
  package func go(to url: String) throws(BrowserError) -> PageRequest? {
    let before = log.requests.count
    let answer = try ask("Page.navigate", ["url": .text(url)])
    // An answer without a document is no failure: the status says what it is.
    if let failure = answer["errorText"].text, failure != "net::ERR_HTTP_RESPONSE_CODE_FAILURE" {
      throw BrowserError("\(url): \(failure)")
    }
    if let loader = answer["loaderId"].text {
      let deadline = SystemClock.monotonic() + Browser.patience
      guard try browser.listen(until: deadline, for: { loaded.contains(loader) }) else {
        throw BrowserError("\(url) is not loaded within \(Browser.patience.milliseconds) ms: \(log.requests)")
      }
    }
    return log.requests[before...].last { $0.kind == "Document" && $0.status != nil }
  }

  /// Asks for the same document once more.
  @discardableResult
  package func reload() throws(BrowserError) -> PageRequest? { try go(to: try text("location.href")) }

  /// The value of an expression of JavaScript; a promise is waited for.
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

  /// The text that an expression gives.
  package func text(_ expression: String) throws(BrowserError) -> String {
    try evaluate(expression).text ?? ""
  }

  /// The text of the first element that a selector finds; nil where there is none.
  package func text(of selector: String) throws(BrowserError) -> String? {
    try evaluate("document.querySelector(\(JSONValue.text(selector)))?.textContent.trim()").text
  }

  /// How many elements a selector finds.
  package func count(_ selector: String) throws(BrowserError) -> Int {
    try evaluate("document.querySelectorAll(\(JSONValue.text(selector))).length").integer ?? 0
  }

  /// Whether an expression is true now; the reason where it has no value. In a document that is not yet there, or no longer,
  /// nothing is true.
  private func look(_ expression: String) throws(BrowserError) -> (isTrue: Bool, why: String?) {
    do throws(BrowserError) { return (try evaluate("Boolean(\(expression))").flag == true, nil) } catch {
      guard try browser.isAlive() else { throw error }
      return (false, error.description)
    }
  }

  /// Whether an expression is true now.
  package func shows(_ expression: String) throws(BrowserError) -> Bool { try look(expression).isTrue }

  /// Waits until an expression is true, also in a document that the page is only on its way to.
  ///
  /// - Parameter limit: how long at the most.
  package func wait(
    for expression: String, within limit: TimeSpan = Browser.patience
  ) throws(BrowserError) {
    let deadline = SystemClock.monotonic() + limit
    while true {
      let (isTrue, why) = try look(expression)
      if isTrue { return }
      let now = SystemClock.monotonic()
      guard now < deadline else {
        let seen = (try? text("document.body?.innerText ?? ''")) ?? ""
        throw BrowserError(
          "\(expression) is not so within \(limit.milliseconds) ms at \((try? text("location.href")) ?? "?"):\n"
            + "\(why ?? "")\n\(seen.suffix(2_000))\ncomplaints: \(log.complaints)")
      }
      // What the page tells in the meantime is noted; a moment later it is looked at again.
      _ = try browser.listen(until: now + .milliseconds(10)) { false }
    }
  }

  /// Notes what the browser has told and nobody has asked for.
  package func catchUp() throws(BrowserError) { try ask("Runtime.evaluate", ["expression": "0"]) }

  /// Forgets what happened so far.
  package func forget() { log = PageLog() }
}
