// Bank with open pages, and a browser that is signed in with the link of `bankctl web`. Everything that a test opens
// here is closed with it: the pages with the browser, the browser before the bank.
import BranchFixture
import HeadlessBrowser
import Testing
import Time

/// Bank, browser and addresses of a test with pages.
final class TestSite {
  let branch: ScratchBank
  let browser: Browser
  /// `http://bank-0123456789.localhost:8700`, with the port that was free.
  private(set) var origin = ""
  /// Code that makes a browser the manager of the vending machine.
  private(set) var managerCode = ""

  /// Port of this bank alone: if its web server is killed while another bank opens its page, that bank must not get the
  /// port. It is below the range from which the kernel assigns ports.
  private let port = Int.random(in: 10_000..<32_000)

  fileprivate init(_ branch: ScratchBank, _ browser: Browser) {
    self.branch = branch
    self.browser = browser
  }

  /// Starts the web server if it is not running, and returns a link that signs in one browser, once.
  @discardableResult
  func link(_ arguments: [String] = [], at location: SourceLocation = #_sourceLocation) throws -> String {
    let outcome = try branch.launch(["web", "--no-open", "--json", "--port", "\(port)"] + arguments).finish(
      at: location)
    try #require(outcome.code == 0, outcome.story, sourceLocation: location)
    let url = try #require(try outcome.json()["url"].text, outcome.story, sourceLocation: location)
    managerCode = try outcome.json()["manager_code"].text ?? ""
    origin = try #require(try outcome.json()["origin"].text, outcome.story, sourceLocation: location)
    return url
  }

  /// Opens a page in a browser that signs in with a link and reads this language.
  func page(_ path: String = "/", _ outputLanguage: OutputLanguage = .en) throws -> Page {
    let page = try browser.page()
    try page.setAcceptLanguage(language: outputLanguage == .ko ? "ko-KR,ko;q=0.9" : "en-US,en;q=0.9")
    try page.go(to: try link())
    if path != "/" { try page.go(to: origin + path) }
    return page
  }

  /// Opens one more page in the same browser session, with or without scripts.
  func page(_ path: String, beside other: Page, _ outputLanguage: OutputLanguage = .en, scripts: Bool = true)
    throws -> Page
  {
    let page = try browser.page(of: other.context)
    try page.setAcceptLanguage(language: outputLanguage == .ko ? "ko-KR,ko;q=0.9" : "en-US,en;q=0.9")
    if !scripts { try page.allowScripts(false) }
    try page.go(to: origin + path)
    return page
  }

  /// Opens the same page twice in one session, in Korean and in English, and marks both documents.
  func pair(_ path: String = "/") throws -> (ko: Page, en: Page) {
    let korean = try page(path, .ko)
    let english = try page(path, beside: korean, .en)
    for page in [korean, english] { try page.markDocument() }
    return (korean, english)
  }
}

/// Gives a test a bank with pages and a browser, and removes both afterwards.
///
/// - Parameters:
///   - arguments: Arguments of `start`.
///   - web: Arguments of `web`.
func withSite(
  _ arguments: String..., web: [String] = [], configuration: (ScratchBank) throws -> String? = { _ in nil },
  _ test: (TestSite) throws -> Void
) throws {
  try withScratchBank { branch in
    let file = try configuration(branch).map { ["--config", $0] } ?? []
    let outcome = try branch.launch(["start", "--json"] + arguments + file).finish()
    try #require(outcome.code == 0, outcome.story)
    try withBrowser { browser in
      let site = TestSite(branch, browser)
      try site.link(web)
      try test(site)
    }
  }
}

extension Page {
  /// Expects that no error was logged and no other machine was contacted.
  func expectClean(
    except known: [String] = [], at location: SourceLocation = #_sourceLocation
  ) throws {
    try awaitPendingEvents()
    let errors = log.errors.filter { complaint in !known.contains { complaint.contains($0) } }
    #expect(errors == [], sourceLocation: location)
    #expect(log.externalURLs == [], sourceLocation: location)
    #expect(log.alerts == [], "an alert of the browser blocks the page", sourceLocation: location)
  }

  /// Selector of the button that sends a form to this path with at least these fields.
  func button(of path: String, _ fields: [String: String] = [:]) throws -> String {
    let wanted = JSONValue.object(fields.mapValues { .text($0) })
    let found = try evaluate(
      """
      (() => {
        const wanted = \(wanted);
        for (const form of document.querySelectorAll("form"))
          for (const button of form.querySelectorAll("button:not([type=button])")) {
              if ((button.getAttribute("formaction") ?? form.getAttribute("action")) !== \(JSONValue.text(path))) continue;
              const data = new FormData(form, button);
              if (!Object.entries(wanted).every(([name, value]) => data.get(name) === value)) continue;
              button.id ||= "wanted-" + Math.random().toString(36).slice(2);
              return "#" + CSS.escape(button.id);
            }
        return null;
      })()
      """)
    guard let selector = found.text else { throw BrowserError("no button sends \(wanted) to \(path)") }
    return selector
  }

  /// Answers "yes" to a confirmation, in a dialog or on its own page.
  func confirm() throws {
    try wait(for: "document.readyState === 'complete' && document.querySelector('[data-answer=yes]')")
    try click("[data-answer=yes]")
  }

  /// Number of rows in a list of the bank page.
  func rows(_ list: String) throws -> Int { try count("[data-list=\"\(list)\"] [data-ticket]") }

  /// Number that an element shows, without digit separators.
  func number(_ selector: String) throws -> Int? {
    try text(of: selector).flatMap { text in
      let digits = text.filter { $0.isNumber && $0.isASCII }
      return Int(digits)
    }
  }

  /// Waits until an expression holds in the page, and the page is still the marked document.
  func waitWithoutReload(_ expression: String) throws {
    try wait(for: "window.isTheSame === true && (\(expression))")
  }

  /// Marks the document, so that a document that replaces it is detected.
  func markDocument() throws { try evaluate("window.isTheSame = true") }
}
