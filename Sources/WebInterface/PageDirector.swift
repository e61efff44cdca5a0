// Owns who sees which page: the pages that are asked for once, and those that somebody looks at. It makes no page itself.
// Invariant: nothing is followed and nothing wakes for a page that nobody looks at. A page that is asked for is shown within
// its patience, with what there is by then.
import BankModel
import Posix
import Time
import WebCore
import WebPages
import WebServer
import Wire

final class PageDirector {
  private struct Visit {
    var exchange: HTTPExchange
    var key: PageKey
    var notice: Notice?
    var theme: Theme
    /// With what the page knows this server again.
    var knowledge: String
    /// Not before: what was changed just now is told by then.
    var begin: MonotonicTime
    /// Until when what the page is made of is waited for.
    var end: MonotonicTime
  }

  private let feeds: Feeds
  let loader: PageLoader
  private let options: WebOptions
  /// Who a request is of, and with what its page knows this server again.
  var knowledge: (HTTPRequest) -> (visitor: Visitor?, server: String) = { _ in (nil, "") }
  private var visits: [Visit] = []
  private var pages: [PageKey: LivePage] = [:]
  private var nextPulse: MonotonicTime?
  /// How often something has changed, a page was made, or nobody looked at one any more.
  private(set) var deeds = 0
  /// Another one for each life of a page, so that nobody goes on from what another life of it has told.
  private var epoch = RandomSeed.fromSystem() >> 12

  /// Pages of one stream at most.
  static let mostTogether = 16
  /// How long after a change the feeds have told it: the board is told twenty times a second.
  private static let settling = TimeSpan.milliseconds(60)
  /// How long a page waits for what it is made of.
  private static let patience = TimeSpan.milliseconds(1_500)
  /// How often a stream says something, so that viewers who have left are found.
  private static let pulse = TimeSpan.seconds(15)

  init(_ feeds: Feeds, _ loader: PageLoader, _ options: WebOptions) {
    (self.feeds, self.loader, self.options) = (feeds, loader, options)
  }

  // MARK: - Asking

  /// Shows a page once.
  func show(_ path: PagePath, _ exchange: HTTPExchange, _ visitor: Visitor?) {
    let request = exchange.request
    let now = SystemClock.monotonic()
    let notice = request.target.query["said"].flatMap { Notice(code: $0) }
    feeds.want(path.feeds, at: now)
    visits.append(
      Visit(
        exchange: exchange, key: key(path, request, visitor), notice: notice,
        theme: Theme(rawValue: Preferences.theme(of: request)) ?? .automatic,
        knowledge: knowledge(request).server,
        begin: notice == nil ? now : now + Self.settling, end: now + Self.patience))
  }

  /// Shows pages with everything that changes, until their viewer leaves. Several share one stream.
  func follow(_ paths: [PagePath], _ exchange: HTTPExchange, _ visitor: Visitor?) {
    let request = exchange.request
    let pages = paths.map { page(key($0, request, visitor)) }
    let query = request.target.query
    if pages.count == 1 {
      let last = request.headers["last-event-id"] ?? query["last"]
      exchange.stream(pages[0], from: pages[0].place(of: last), owner: visitor?.session)
    } else {
      let places = zip(pages, query.all("last") + pages.map { _ in "" }).map { $0.place(of: $1) }
      exchange.stream(PageBundle(pages, from: places), owner: visitor?.session)
    }
    if nextPulse == nil { nextPulse = SystemClock.monotonic() + Self.pulse }
    renewNeeds()
  }

  private func key(_ path: PagePath, _ request: HTTPRequest, _ visitor: Visitor?) -> PageKey {
    PageKey(
      path: path, address: path.address, language: Preferences.language(of: request),
      isManager: visitor?.isManager == true, role: visitor?.role ?? .viewer)
  }

  private func page(_ key: PageKey) -> LivePage {
    if let page = pages[key] { return page }
    epoch += 1
    let page = LivePage(key, epoch: epoch) { [unowned self] in forget($0) }
    pages[key] = page
    return page
  }

  private func forget(_ page: LivePage) {
    guard pages[page.key] === page else { return }
    pages[page.key] = nil
    deeds += 1
    if pages.isEmpty { nextPulse = nil }
    renewNeeds()
  }

  private func renewNeeds() {
    feeds.need(pages.keys.reduce(into: []) { $0.formUnion($1.path.feeds) }, at: SystemClock.monotonic())
  }

  /// The frame of a page that is of no viewer's own.
  func frame(_ request: HTTPRequest, isManager: Bool = false, notice: Notice? = nil) -> PageFrame {
    let (visitor, server) = knowledge(request)
    let address = (try? PagePath.page(of: request.target))?.address ?? request.target.path
    let role = visitor?.role ?? .viewer
    return PageFrame(
      language: Preferences.language(of: request),
      theme: Theme(rawValue: Preferences.theme(of: request)) ?? .automatic,
      address: address, key: Self.newKey(), isReadOnly: isLocked(role, request.target.path),
      hasChaos: options.hasChaos && role.operates, isManager: isManager, isPublic: role == .kiosk,
      server: server, notice: notice)
  }

  /// True if a page of this path has no form that this role may send.
  private func isLocked(_ role: WebRole, _ path: String) -> Bool {
    options.isReadOnly || !role.mayChange(path)
  }

  static func newKey() -> String {
    "web-" + String(RandomSeed.fromSystem(), radix: 36) + String(RandomSeed.fromSystem(), radix: 36)
  }

  private func frame(_ key: PageKey) -> PageFrame {
    var frame = PageFrame(
      language: key.language, address: key.address,
      isReadOnly: isLocked(key.role, String(key.address.prefix { $0 != "?" })),
      hasChaos: options.hasChaos && key.role.operates, isManager: key.isManager,
      isPublic: key.role == .kiosk,
      isConnected: !key.path.feeds.contains(.board) || feeds.isOpen.contains(.board))
    frame.isClosed = isClosed
    return frame
  }

  /// The bank has closed; the pages say so before their streams end.
  private var isClosed = false

  var hasViewers: Bool { !pages.isEmpty }

  /// The bank has closed: that is the last change of every page that is open.
  func end(_ now: MonotonicTime) {
    feeds.noteEndOfBank()
    isClosed = true
    for page in pages.values where page.key.path.isMadeOfTheBoard { renew(page, now) }
    for page in pages.values { page.finish(frame(page.key), at: now) }
  }

  // MARK: - Turns

  /// Something has changed that pages live on.
  func note(_ kind: FeedKind) {
    deeds += 1
    for page in pages.values where page.key.path.feeds.contains(kind) {
      page.isStale = true
      if page.sequence == 0 { page.nextLoad = MonotonicTime(nanoseconds: 0) }
    }
  }

  var nextDeadline: MonotonicTime? {
    var earliest = nextPulse
    for visit in visits {
      let isThere = feeds.has(visit.key.path.feeds)
      earliest = .earlier(earliest, isThere ? visit.begin : visit.end)
    }
    for page in pages.values {
      earliest = .earlier(earliest, page.heldUntil)
      if page.isStale, !page.isLoading { earliest = .earlier(earliest, page.nextLoad) }
    }
    return earliest
  }

  /// True if streams are told now that they are still there.
  func isPulseDue(_ now: MonotonicTime) -> Bool { nextPulse.map { $0 <= now } ?? false }

  func endTurn(_ now: MonotonicTime) {
    showVisits(now)
    for page in pages.values where page.isStale && !page.isLoading && page.nextLoad <= now {
      renew(page, now)
    }
    for page in pages.values { page.catchUp(now) }
    if let pulse = nextPulse, pulse <= now {
      nextPulse = now + Self.pulse
      for page in pages.values { page.pulse() }
    }
  }

  private func showVisits(_ now: MonotonicTime) {
    let due = visits.filter { feeds.has($0.key.path.feeds) && $0.begin <= now || $0.end <= now }
    guard !due.isEmpty else { return }
    deeds += due.count
    visits.removeAll { visit in due.contains { $0.exchange === visit.exchange } }
    for visit in due {
      loader.load(visit.key.path, in: visit.key.language) { [self] outcome in respond(visit, outcome) }
    }
  }

  private func respond(_ visit: Visit, _ outcome: PageOutcome) {
    var frame = frame(visit.key)
    (frame.theme, frame.notice, frame.key) = (visit.theme, visit.notice, Self.newKey())
    frame.server = visit.knowledge
    switch outcome {
    case .page(let page):
      frame.address = page.lastingAddress ?? frame.address
      visit.exchange.respond(.page(page.html(frame)))
    case .missing(let detail):
      visit.exchange.respond(.page(ErrorPage(status: 404, detail: detail).html(frame), status: 404))
    case .away: visit.exchange.respond(.page(ErrorPage(status: 503).html(frame), status: 503))
    }
  }

  private func renew(_ page: LivePage, _ now: MonotonicTime) {
    // What the page is made of has just been asked for: it says when it is there.
    if page.sequence == 0, !feeds.has(page.key.path.feeds) {
      page.nextLoad = now + Self.patience
      if !page.wasPutOff {
        page.wasPutOff = true
        return
      }
    }
    deeds += 1
    (page.isStale, page.isLoading) = (false, true)
    page.nextLoad = now + page.interval
    loader.load(page.key.path, in: page.key.language) { [self, weak page] outcome in
      guard let page else { return }
      page.isLoading = false
      // Where there is nothing to show now, what was shown last stays, and is tried again with the next change.
      if case .page(let value) = outcome {
        page.show(value.regions(frame(page.key)), at: SystemClock.monotonic())
      }
    }
  }
}
