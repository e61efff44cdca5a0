// Frame of a page: document head, navigation, notice, footer.
// Invariant: the document contains no inline script and no inline style, so the content security policy can forbid
// both.
import BankModel

/// The HTML document of a page, from its content and its frame.
struct PageDocument {
  let frame: PageFrame
  let title: String
  let cssClass: HTML
  let sheets: [String]
  let regions: [Region]
  let body: HTML

  private var messages: PageMessages { frame.messages }

  /// The complete document.
  var text: String {
    let theme: HTML? = frame.theme == .automatic ? nil : #" data-theme="\#(frame.theme.rawValue)""#
    // A page whose only region is the banner of the frame opens no stream.
    let live: HTML? =
      regions.count < 2
      ? nil
      : #" data-live="\#(frame.address)" data-lang="\#(frame.language.code)" data-lost="\#(messages.serverUnavailable)""#
    let server: HTML? =
      frame.server.isEmpty
      ? nil : #" data-server="\#(frame.server)" data-stranger="\#(messages.otherServer)""#
    let more = sheets.map { #"<link rel="stylesheet" href="/assets/\#($0)">"# as HTML }
    // The bank's page has only the bank's name as its title.
    let whole = title == messages.bank ? title : "\(title) · \(messages.bank)"
    let document: HTML = """
      <!DOCTYPE html>
      <html lang="\(frame.language.code)"\(theme)>
      <head>
      <meta charset="utf-8">
      <meta name="viewport" content="width=device-width, initial-scale=1">
      <meta name="color-scheme" content="\(frame.theme == .automatic ? "light dark" : frame.theme.rawValue)">
      <title>\(whole)</title>
      <link rel="icon" href="/assets/icon.svg" type="image/svg+xml">
      <link rel="stylesheet" href="/assets/style.css">\(more)
      <script type="module" src="/assets/page.js"></script>
      </head>
      <body class="\(cssClass)" data-unsent="\(messages.notSent)" data-failed="\(messages.notAccepted)" data-ok="\(messages.ok)" data-no="\(messages.phrases.no)"\(live)\(server)>
      <a class="skip" href="#main">\(messages.skip)</a>
      \(header)
      <main id="main" tabindex="-1">
      <div class="said" id="said" role="status" aria-live="polite">\(notice)</div>
      \(regions.place("connection"))
      \(body)
      </main>
      <footer class="foot"><p>\(messages.utc)</p></footer>
      <div class="toasts"><p class="lost" id="lost" role="status" hidden></p><div id="toast" role="status"></div></div>
      <p class="unseen" id="speaker" aria-live="polite"></p>
      </body>
      </html>

      """
    return document.text
  }

  /// Banner that says that the bank has closed or does not answer; empty otherwise.
  static func connection(_ frame: PageFrame) -> Region {
    let text: String? =
      frame.isClosed ? frame.messages.bankClosed : frame.isConnected ? nil : frame.messages.bankUnavailable
    return .block("connection", text.map { #"<p class="banner bad" role="alert">\#($0)</p>"# } ?? "")
  }

  /// Brand, title and menu at the top of the page.
  private var header: HTML {
    """
    <header class="top">
    <a class="brand" href="/"><svg viewBox="0 0 32 32" aria-hidden="true"><path d="M16 3 3 10v3h26v-3zM6 15h4v9H6zm8 0h4v9h-4zm8 \
    0h4v9h-4zM3 26h26v3H3z"/></svg><b>\(messages.bank)</b></a>
    <p class="here">\(title)</p>
    <button class="menu-button" type="button" popovertarget="menu" aria-label="\(messages.menu)">\
    <svg viewBox="0 0 24 24" aria-hidden="true"><path d="M3 6h18M3 12h18M3 18h18"/></svg></button>
    <nav id="menu" class="menu" popover aria-label="\(messages.pages)">
    <ul>\(PageLink.all.filter { !frame.isPublic || $0.isPublic }.map(link))</ul>
    \(choices)
    </nav>
    </header>
    """
  }

  /// An entry of the navigation.
  private func link(_ link: PageLink) -> HTML {
    let current: HTML? = link.path == frame.path ? #" aria-current="page""# : nil
    return
      #"<li><a href="\#(link.path)"\#(current)>\#(link.icon)<span>\#(messages[dynamicMember: link.name])</span></a></li>"#
  }

  /// Forms for language and theme, and the logout button.
  private var choices: HTML {
    let back: HTML = #"<input type="hidden" name="back" value="\#(frame.address)">"#
    let themes: [(Theme, String)] = [
      (.automatic, messages.automatic), (.light, messages.light), (.dark, messages.dark),
    ]
    return """
      <div class="choices">
      <form method="post" action="/language" data-plain aria-label="\(messages.languages)">\(back)\
      \(Language.allCases.map { choice("lang", $0.code, $0 == .korean ? "한국어" : "English", $0 == frame.language, $0) })</form>
      <form method="post" action="/theme" data-plain aria-label="\(messages.theme)">\(back)\
      \(themes.map { choice("theme", $0.0.rawValue, $0.1, $0.0 == frame.theme, nil) })</form>\(logout)
      </div>
      """
  }

  /// Logout button; nil without a session.
  private var logout: HTML? {
    frame.server.isEmpty
      ? nil
      : #"<form method="post" action="/logout" data-plain><button data-action="logout">\#(messages.logOut)</button></form>"#
  }

  /// Button that chooses a language or a theme, marked if its value is chosen. `language` is the language of its text;
  /// nil for that of the page.
  private func choice(
    _ name: HTML, _ value: String, _ text: String, _ isChosen: Bool, _ language: Language?
  ) -> HTML {
    let spoken: HTML? = language.map { #" lang="\#($0.code)""# }
    return """
      <button name="\(name)" value="\(value)" aria-pressed="\(isChosen ? "true" : "false")"\(spoken)>\(text)</button>
      """
  }

  /// The banner for a viewer who may change nothing, and the result of the last form; nil if there is neither.
  private var notice: HTML? {
    let readOnly: HTML? =
      frame.isReadOnly && !frame.isPublic ? #"<p class="banner">\#(messages.readOnly)</p>"# : nil
    guard let notice = frame.notice else { return readOnly }
    let text = messages.notice(notice)
    let tone = notice.tone
    let answers: HTML? =
      tone == .question
      ? """
      <span class="answers"><a class="button strong" href="\(Notice.stockEditor)">\(messages.phrases.yes)</a> \
      <a class="button" href="\(frame.path)">\(messages.phrases.no)</a></span>
      """ : nil
    return #"\#(readOnly)<div class="notice \#(tone.rawValue)"><p>\#(text)</p>\#(answers)</div>"#
  }
}

extension PageFrame {
  /// Region with the banner about the connection to the bank.
  public var connection: Region { PageDocument.connection(self) }

  /// The texts in the language of the viewer.
  var messages: PageMessages { PageMessages(language: language) }
}
