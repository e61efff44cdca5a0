// Owns one browser and the conversation with it: requests, their answers, and what it tells of its pages meanwhile.
// A real one, Debian's chromium-headless-shell, by the DevTools protocol over two pipes; nothing stands in between.
// Invariant: nothing is waited for without a limit, and no page can reach anybody but 127.0.0.1. It is for one thread.
// Failure: BrowserError with the words of the browser.
import Posix
import Time

/// A browser of its own, for as long as the value lives.
package final class Browser {
  /// A name that leads to 127.0.0.1 as well, as that of a page of a stranger may.
  package static let foreignName = "stranger.test"
  /// Whether there is one on this machine.
  package static var isInstalled: Bool { BrowserProcess.path != nil }
  /// How long anything may take on a machine of which others have their share.
  package static let patience = TimeSpan.seconds(30)

  private let process: BrowserProcess
  private var lastRequest = 0
  private var pages: [String: Weak] = [:]
  /// The people whose pages these are; each has cookies of its own.
  private var people: [String] = []

  private struct Weak { weak var page: Page? }

  /// Starts one.
  /// - Parameter language: what its pages are told that the person reads, like `ko-KR,ko`.
  package init(language: String = "en-US,en") throws {
    process = try BrowserProcess(language: language)
    try ask("Target.setDiscoverTargets", ["discover": false])
  }

  /// What the browser calls itself.
  package func version() throws(BrowserError) -> String {
    try ask("Browser.getVersion")["product"].text ?? ""
  }

  /// Whether it answers.
  func isAlive() throws(BrowserError) -> Bool { try !version().isEmpty }

  /// Opens an empty page.
  /// - Parameter person: whose cookies it has; nil for somebody who has never been here.
  package func page(of person: Person? = nil) throws(BrowserError) -> Page {
    let person = if let person { person } else { try newPerson() }
    let target = try ask(
      "Target.createTarget", ["url": "about:blank", "browserContextId": .text(person.name)])
    let attached = try ask("Target.attachToTarget", ["targetId": target["targetId"], "flatten": true])
    guard let session = attached["sessionId"].text, let name = target["targetId"].text else {
      throw BrowserError("no page was opened: \(target) \(attached)")
    }
    let page = Page(self, session: session, target: name, person: person)
    pages[session] = Weak(page: page)
    try page.prepare()
    return page
  }

  /// Somebody with cookies of their own.
  package struct Person: Sendable, Hashable { let name: String }

  private func newPerson() throws(BrowserError) -> Person {
    guard let name = try ask("Target.createBrowserContext")["browserContextId"].text else {
      throw BrowserError("the browser lets nobody in")
    }
    return Person(name: name)
  }

  /// Asks for something and waits for the answer; everything that happens meanwhile is noted with its page.
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
    try process.say(.object(request))
    let deadline = SystemClock.monotonic() + Self.patience
    while let message = try process.hear(until: deadline) {
      guard message["id"].integer == number else {
        try note(message)
        continue
      }
      guard message["error"].isNull else {
        throw BrowserError("\(method): \(message["error"]["message"].text ?? message.description)")
      }
      return message["result"]
    }
    throw BrowserError("\(method): no answer within \(Self.patience.milliseconds) ms\n\(process.complaints)")
  }

  /// Says something without waiting for what comes of it.
  func tell(_ method: String, _ parameters: JSONValue, session: String) throws(BrowserError) {
    lastRequest += 1
    try process.say([
      "id": .number(Double(lastRequest)), "method": .text(method), "params": parameters,
      "sessionId": .text(session),
    ])
  }

  /// Notes what the browser tells by itself, until something is so; false when that took too long.
  func listen(until deadline: MonotonicTime, for condition: () -> Bool) throws(BrowserError) -> Bool {
    while !condition() {
      guard let message = try process.hear(until: deadline) else { return condition() }
      try note(message)
    }
    return true
  }

  private func note(_ message: JSONValue) throws(BrowserError) {
    guard let session = message["sessionId"].text, let method = message["method"].text else { return }
    try pages[session]?.page?.note(method, message["params"])
  }

  func forget(_ session: String) { pages[session] = nil }
}

/// Gives somebody a browser, and takes it away again however that ends.
package func withBrowser<Result>(
  language: String = "en-US,en", _ test: (Browser) throws -> Result
) throws -> Result {
  let browser = try Browser(language: language)
  return try withExtendedLifetime(browser) { try test(browser) }
}
