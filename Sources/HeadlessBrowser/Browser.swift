// One browser and its connection: requests, answers and events of its pages. The browser is Debian's
// chromium-headless-shell, controlled with the DevTools protocol over two pipes.
// Invariant: a wait for a message is bounded. A browser is used by one thread.
// Errors: `BrowserError` with the browser's messages.
import Posix
import Time

/// Headless browser in which tests open the bank's pages. Its process ends with the value.
package final class Browser {
  /// Another name of 127.0.0.1, for pages of another origin.
  package static let otherOriginHost = "stranger.test"
  /// True if the browser is on the PATH.
  package static var isInstalled: Bool { BrowserProcess.path != nil }
  /// Timeout of a request, and of a wait without a limit of its own. It is long, because the machine may be busy.
  package static let timeout = TimeSpan.seconds(30)

  private let process: BrowserProcess
  /// Number of the last request.
  private var lastRequest = 0
  /// Pages by the ids of their sessions.
  private var pages: [String: Weak] = [:]

  /// Weak reference to an open page, so that the list of pages does not keep a page that its test has released.
  private struct Weak { weak var page: Page? }

  /// Starts a browser.
  /// - Parameter language: value of Accept-Language, such as `ko-KR,ko`.
  package init(language: String = "en-US,en") throws {
    process = try BrowserProcess(language: language)
    try ask("Target.setDiscoverTargets", ["discover": false])
  }

  /// Product name and version of the browser.
  package func version() throws(BrowserError) -> String {
    try ask("Browser.getVersion")["product"].text ?? ""
  }

  /// True if the browser answers; throws if it does not.
  func isAlive() throws(BrowserError) -> Bool { try !version().isEmpty }

  /// Opens an empty page.
  /// - Parameter context: browser context with its cookies; nil for a new one without cookies.
  package func page(of context: Context? = nil) throws(BrowserError) -> Page {
    let context = if let context { context } else { try makeContext() }
    let target = try ask(
      "Target.createTarget", ["url": "about:blank", "browserContextId": .text(context.name)])
    let attached = try ask("Target.attachToTarget", ["targetId": target["targetId"], "flatten": true])
    guard let session = attached["sessionId"].text, let name = target["targetId"].text else {
      throw BrowserError("no page was opened: \(target) \(attached)")
    }
    let page = Page(self, session: session, target: name, context: context)
    pages[session] = Weak(page: page)
    try page.prepare()
    return page
  }

  /// Browser context: its pages share cookies.
  package struct Context: Sendable, Hashable { let name: String }

  private func makeContext() throws(BrowserError) -> Context {
    guard let name = try ask("Target.createBrowserContext")["browserContextId"].text else {
      throw BrowserError("the browser created no context")
    }
    return Context(name: name)
  }

  /// Sends a request of the DevTools protocol to the browser, or to one page by the id of its session, and returns the
  /// result. Events that arrive meanwhile are passed to their pages.
  @discardableResult
  func ask(
    _ method: String, _ parameters: JSONValue = [:], session: String? = nil
  ) throws(BrowserError) -> JSONValue {
    lastRequest += 1
    let number = lastRequest
    var request: [String: JSONValue] = [
      "id": .number(Double(number)), "method": .text(method), "params": parameters,
    ]
    if let session { request["sessionId"] = .text(session) }
    try process.send(.object(request))
    let deadline = SystemClock.monotonic() + Self.timeout
    while let message = try process.receive(until: deadline) {
      guard message["id"].integer == number else {
        try handle(message)
        continue
      }
      guard message["error"].isNull else {
        throw BrowserError("\(method): \(message["error"]["message"].text ?? message.description)")
      }
      return message["result"]
    }
    throw BrowserError(
      "\(method): no answer within \(Self.timeout.milliseconds) ms\n\(process.standardErrorText)")
  }

  /// Sends a request to one page, by the id of its session, without waiting for the answer.
  func send(_ method: String, _ parameters: JSONValue, session: String) throws(BrowserError) {
    lastRequest += 1
    try process.send([
      "id": .number(Double(lastRequest)), "method": .text(method), "params": parameters,
      "sessionId": .text(session),
    ])
  }

  /// Passes events to their pages until the condition holds; false on a timeout.
  func collectEvents(until deadline: MonotonicTime, for condition: () -> Bool) throws(BrowserError) -> Bool {
    while !condition() {
      guard let message = try process.receive(until: deadline) else { return condition() }
      try handle(message)
    }
    return true
  }

  /// Passes an event to its page; other messages are dropped.
  private func handle(_ message: JSONValue) throws(BrowserError) {
    guard let session = message["sessionId"].text, let method = message["method"].text else { return }
    try pages[session]?.page?.handle(method, message["params"])
  }

  /// Removes a released page, by the id of its session, from the list of pages that receive events.
  func forget(_ session: String) { pages[session] = nil }
}

/// Runs a test with a new browser.
package func withBrowser<Result>(
  language: String = "en-US,en", _ test: (Browser) throws -> Result
) throws -> Result {
  let browser = try Browser(language: language)
  return try withExtendedLifetime(browser) { try test(browser) }
}
