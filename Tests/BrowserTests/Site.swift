// A bank whose pages are open, and a person who has come in by the link that `bankctl web` prints.
// Whatever a test opens here is closed with it: the pages with the browser, the browser before the bank.
import BranchFixture
import HeadlessBrowser
import Testing
import Time

/// What a test with pages has in hand.
final class Site {
  let branch: Branch
  let browser: Browser
  /// `http://bank-0123456789.localhost:8700`, with the port that was free.
  private(set) var origin = ""
  /// With which somebody becomes the manager of the vending machine.
  private(set) var managerCode = ""

  /// One of its own: where a server dies while another bank opens its page, that one must not get the port of this one. Below
  /// those that the kernel gives away by itself.
  private let port = Int.random(in: 10_000..<32_000)

  fileprivate init(_ branch: Branch, _ browser: Browser) {
    self.branch = branch
    self.browser = browser
  }

  /// Has the pages opened where they are not, and returns a link that lets somebody in, once.
  @discardableResult
  func link(_ words: [String] = [], at location: SourceLocation = #_sourceLocation) throws -> String {
    let outcome = try branch.launch(["web", "--no-open", "--json", "--port", "\(port)"] + words).finish(
      at: location)
    try #require(outcome.code == 0, outcome.story, sourceLocation: location)
    let url = try #require(try outcome.json()["url"].text, outcome.story, sourceLocation: location)
    managerCode = try outcome.json()["manager_code"].text ?? ""
    origin = try #require(try outcome.json()["origin"].text, outcome.story, sourceLocation: location)
    return url
  }

  /// Opens a page for somebody who has come in by a link and reads this language.
  func page(_ path: String = "/", _ tongue: Tongue = .en) throws -> Page {
    let page = try browser.page()
    try page.read(language: tongue == .ko ? "ko-KR,ko;q=0.9" : "en-US,en;q=0.9")
    try page.go(to: try link())
    if path != "/" { try page.go(to: origin + path) }
    return page
  }

  /// Opens one more page of the same person, without or with its scripts.
  func page(_ path: String, beside other: Page, _ tongue: Tongue = .en, scripts: Bool = true) throws -> Page {
    let page = try browser.page(of: other.person)
    try page.read(language: tongue == .ko ? "ko-KR,ko;q=0.9" : "en-US,en;q=0.9")
    if !scripts { try page.allowScripts(false) }
    try page.go(to: origin + path)
    return page
  }

  /// Opens the same page twice for the same person, in Korean and in English, and marks both documents.
  func pair(_ path: String = "/") throws -> (ko: Page, en: Page) {
    let korean = try page(path, .ko)
    let english = try page(path, beside: korean, .en)
    for page in [korean, english] { try page.mark() }
    return (korean, english)
  }
}

/// Gives a test a bank with pages and a browser, and takes both away again.
///
/// - Parameters:
///   - words: what stands behind `start`.
///   - web: what stands behind `web`.
func withSite(
  _ words: String..., web: [String] = [], configuration: (Branch) throws -> String? = { _ in nil },
  _ test: (Site) throws -> Void
) throws {
  try withBranch { branch in
    let file = try configuration(branch).map { ["--config", $0] } ?? []
    let outcome = try branch.launch(["start", "--json"] + words + file).finish()
    try #require(outcome.code == 0, outcome.story)
    try withBrowser { browser in
      let site = Site(branch, browser)
      try site.link(web)
      try test(site)
    }
  }
}

extension Page {
  /// Expects that nothing was complained about and nobody but this machine was asked.
  func expectClean(
    except known: [String] = [], at location: SourceLocation = #_sourceLocation
  ) throws {
    try catchUp()
    let complaints = log.complaints.filter { complaint in !known.contains { complaint.contains($0) } }
    #expect(complaints == [], sourceLocation: location)
    #expect(log.strayed == [], sourceLocation: location)
    #expect(log.alerts == [], "an alert of the browser stops the page", sourceLocation: location)
  }

  /// A selector of the button that sends a form to this path with these fields among others.
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

  /// Says yes to the question that is asked, in a dialog or on a page of its own.
  func confirm() throws {
    try wait(for: "document.readyState === 'complete' && document.querySelector('[data-answer=yes]')")
    try click("[data-answer=yes]")
  }

  /// How many rows a list of the bank's page has.
  func rows(_ list: String) throws -> Int { try count("[data-list=\"\(list)\"] [data-ticket]") }

  /// The number that an element shows, without marks between its digits.
  func number(_ selector: String) throws -> Int? {
    try text(of: selector).flatMap { text in
      let digits = text.filter { $0.isNumber && $0.isASCII }
      return Int(digits)
    }
  }

  /// Waits until the page shows what an expression says of it, and is the document that it was.
  func becomes(_ expression: String) throws { try wait(for: "window.isTheSame === true && (\(expression))") }

  /// Marks the document, so that one that takes its place is told from it.
  func mark() throws { try evaluate("window.isTheSame = true") }
}
