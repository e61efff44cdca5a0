// Requested pages, and viewed pages with their streams.
// Invariant: some time after its last request or viewer, a page needs no subscription and no timer. A requested page is
// loaded after at most `timeout`, with the values available by then.
import BankModel
import Posix
import Time
import WebCore
import WebPages
import WebServer
import Wire

/// Answers requests for pages, and sends the changes of viewed pages.
final class PageSubscriptions {
  /// A requested page that was not loaded yet.
  private struct PendingPage {
    var exchange: HTTPExchange
    var key: PageKey
    var notice: Notice?
    var theme: Theme
    /// Data with which the page recognises this server later.
    var serverIdentity: String
    /// Earliest time at which the page is loaded. After a form it is delayed, so that the sources usually include the
    /// change that the form made.
    var begin: MonotonicTime
    /// Deadline of the wait for the page's sources.
    var end: MonotonicTime
  }

  private let dataSources: DataSources
  let loader: PageLoader
  private let options: WebOptions
  /// The visitor of a request, and the data with which the page recognises this server later.
  var serverIdentity: (HTTPRequest) -> (visitor: Visitor?, server: String) = { _ in (nil, "") }
  private var pendingPages: [PendingPage] = []
  /// The viewed pages.
  private var pages: [PageKey: LivePage] = [:]
  private var nextKeepAlive: MonotonicTime?
  /// Number of changes of sources, answered requests, loaded pages and closed pages.
  private(set) var workCount = 0
  /// Incremented for each new `LivePage`, so that a client cannot resume from a position of another page.
  private var epoch = RandomSeed.fromSystem() >> 12

  /// Maximum number of pages of one stream.
  static let maximumPagesPerStream = 16
  /// Time after which the board usually includes a change.
  private static let settling = TimeSpan.milliseconds(60)
  /// Maximum wait for the first values of a page's sources.
  private static let timeout = TimeSpan.milliseconds(1_500)
  /// Interval of keep-alives, which detect disconnected viewers.
  private static let keepAlive = TimeSpan.seconds(15)

  init(_ dataSources: DataSources, _ loader: PageLoader, _ options: WebOptions) {
    (self.dataSources, self.loader, self.options) = (dataSources, loader, options)
  }

  // MARK: - Requests

  /// Answers with the document of a page when its sources have values, or after `timeout`.
  func show(_ path: PagePath, _ exchange: HTTPExchange, _ visitor: Visitor?) {
    let request = exchange.request
    let now = SystemClock.monotonic()
    let notice = request.target.query["notice"].flatMap { Notice(code: $0) }
    dataSources.subscribeBriefly(path.dataSources, at: now)
    pendingPages.append(
      PendingPage(
        exchange: exchange, key: key(path, request, visitor), notice: notice,
        theme: Theme(rawValue: Preferences.theme(of: request)) ?? .automatic,
        serverIdentity: serverIdentity(request).server,
        begin: notice == nil ? now : now + Self.settling, end: now + Self.timeout))
  }

  /// Streams pages with their changes. Several pages share one stream.
  func streamPages(_ paths: [PagePath], _ exchange: HTTPExchange, _ visitor: Visitor?) {
    let request = exchange.request
    let pages = paths.map { page(key($0, request, visitor)) }
    let query = request.target.query
    if pages.count == 1 {
      let last = request.headers["last-event-id"] ?? query["last"]
      exchange.stream(pages[0], from: pages[0].position(of: last), owner: visitor?.session)
    } else {
      let positions = zip(pages, query.all("last") + pages.map { _ in "" }).map { $0.position(of: $1) }
      exchange.stream(PageBundle(pages, from: positions), owner: visitor?.session)
    }
    if nextKeepAlive == nil { nextKeepAlive = SystemClock.monotonic() + Self.keepAlive }
    updateNeededSources()
  }

  /// Key of a page for the visitor of a request. Visitors with the same key share the encoded page.
  private func key(_ path: PagePath, _ request: HTTPRequest, _ visitor: Visitor?) -> PageKey {
    PageKey(
      path: path, address: path.address, language: Preferences.language(of: request),
      isManager: visitor?.isManager == true, role: visitor?.role ?? .viewer)
  }

  /// The viewed page of a key; a new one if it has no viewer yet.
  private func page(_ key: PageKey) -> LivePage {
    if let page = pages[key] { return page }
    epoch += 1
    let page = LivePage(key, epoch: epoch) { [unowned self] in remove($0) }
    pages[key] = page
    return page
  }

  private func remove(_ page: LivePage) {
    guard pages[page.key] === page else { return }
    pages[page.key] = nil
    workCount += 1
    if pages.isEmpty { nextKeepAlive = nil }
    updateNeededSources()
  }

  /// Subscribes to the sources of all viewed pages.
  private func updateNeededSources() {
    dataSources.setNeeded(
      pages.keys.reduce(into: []) { $0.formUnion($1.path.dataSources) }, at: SystemClock.monotonic())
  }

  /// Frame (language, theme, rights, notice) of a document that is not updated by a stream, such as an error page.
  func frame(_ request: HTTPRequest, isManager: Bool = false, notice: Notice? = nil) -> PageFrame {
    let (visitor, server) = serverIdentity(request)
    let address = (try? PagePath.page(of: request.target))?.address ?? request.target.path
    let role = visitor?.role ?? .viewer
    return PageFrame(
      language: Preferences.language(of: request),
      theme: Theme(rawValue: Preferences.theme(of: request)) ?? .automatic,
      address: address, key: Self.newKey(), isReadOnly: isLocked(role, request.target.path),
      hasChaos: options.hasChaos && role.mayOperate, isManager: isManager, isPublic: role == .kiosk,
      server: server, notice: notice)
  }

  /// True if this role may send no form on the page of this path.
  private func isLocked(_ role: WebRole, _ path: String) -> Bool {
    options.isReadOnly || !role.mayChange(path)
  }

  /// A random idempotency key for the forms of a document.
  static func newKey() -> String {
    "web-" + String(RandomSeed.fromSystem(), radix: 36) + String(RandomSeed.fromSystem(), radix: 36)
  }

  /// Frame (language, rights, connection) of a page for all visitors with this key.
  private func frame(_ key: PageKey) -> PageFrame {
    var frame = PageFrame(
      language: key.language, address: key.address,
      isReadOnly: isLocked(key.role, String(key.address.prefix { $0 != "?" })),
      hasChaos: options.hasChaos && key.role.mayOperate, isManager: key.isManager,
      isPublic: key.role == .kiosk,
      isConnected: !key.path.dataSources.contains(.board) || dataSources.isOpen.contains(.board))
    frame.isClosed = isClosed
    return frame
  }

  /// True after the bank has closed. The pages show this state before their streams end.
  private var isClosed = false

  var hasViewers: Bool { !pages.isEmpty }

  /// Handles the end of the bank: sends the last change of every viewed page.
  func end(_ now: MonotonicTime) {
    dataSources.markBankClosed()
    isClosed = true
    for page in pages.values where page.key.path.needsOnlyBoard { reload(page, now) }
    for page in pages.values { page.finish(frame(page.key), at: now) }
  }

  // MARK: - Loop

  /// Marks the viewed pages that depend on a changed source, so that they are loaded again.
  func handleChange(_ kind: DataSource) {
    workCount += 1
    for page in pages.values where page.key.path.dataSources.contains(kind) {
      page.isStale = true
      if page.sequence == 0 { page.nextLoad = MonotonicTime(nanoseconds: 0) }
    }
  }

  /// Deadline for the next call of `finishIteration(_:)`; nil for none.
  var nextDeadline: MonotonicTime? {
    var earliest = nextKeepAlive
    for pendingPage in pendingPages {
      let isReady = dataSources.has(pendingPage.key.path.dataSources)
      earliest = .earlier(earliest, isReady ? pendingPage.begin : pendingPage.end)
    }
    for page in pages.values {
      earliest = .earlier(earliest, page.heldUntil)
      if page.isStale, !page.isLoading { earliest = .earlier(earliest, page.nextLoad) }
    }
    return earliest
  }

  func isKeepAliveDue(_ now: MonotonicTime) -> Bool { nextKeepAlive.map { $0 <= now } ?? false }

  /// Loads the pages that are due, and sends held lists and keep-alives.
  func finishIteration(_ now: MonotonicTime) {
    answerPendingPages(now)
    for page in pages.values where page.isStale && !page.isLoading && page.nextLoad <= now {
      reload(page, now)
    }
    for page in pages.values { page.sendHeldLists(now) }
    if let keepAlive = nextKeepAlive, keepAlive <= now {
      nextKeepAlive = now + Self.keepAlive
      for page in pages.values { page.keepAlive() }
    }
  }

  /// Loads and sends the requested pages whose sources are ready or whose wait is over.
  private func answerPendingPages(_ now: MonotonicTime) {
    let due = pendingPages.filter {
      dataSources.has($0.key.path.dataSources) && $0.begin <= now || $0.end <= now
    }
    guard !due.isEmpty else { return }
    workCount += due.count
    pendingPages.removeAll { pendingPage in due.contains { $0.exchange === pendingPage.exchange } }
    for pendingPage in due {
      loader.load(pendingPage.key.path, in: pendingPage.key.language) { [self] outcome in
        respond(pendingPage, outcome)
      }
    }
  }

  /// Sends the document of a requested page, or the error page.
  private func respond(_ pendingPage: PendingPage, _ outcome: PageOutcome) {
    var frame = frame(pendingPage.key)
    (frame.theme, frame.notice, frame.key) = (pendingPage.theme, pendingPage.notice, Self.newKey())
    frame.server = pendingPage.serverIdentity
    switch outcome {
    case .page(let page):
      frame.address = page.lastingAddress ?? frame.address
      pendingPage.exchange.respond(.page(page.html(frame)))
    case .missing(let detail):
      pendingPage.exchange.respond(.page(ErrorPage(status: 404, detail: detail).html(frame), status: 404))
    case .unavailable: pendingPage.exchange.respond(.page(ErrorPage(status: 503).html(frame), status: 503))
    }
  }

  /// Loads a viewed page, and sends its changes. Waits once if its sources have no value yet.
  private func reload(_ page: LivePage, _ now: MonotonicTime) {
    // The sources notify this object when they have values.
    if page.sequence == 0, !dataSources.has(page.key.path.dataSources) {
      page.nextLoad = now + Self.timeout
      if !page.wasPostponed {
        page.wasPostponed = true
        return
      }
    }
    workCount += 1
    (page.isStale, page.isLoading) = (false, true)
    page.nextLoad = now + page.interval
    loader.load(page.key.path, in: page.key.language) { [self, weak page] outcome in
      guard let page else { return }
      page.isLoading = false
      // If the page cannot be loaded, the last content stays. The next change causes a retry.
      if case .page(let value) = outcome {
        page.show(value.regions(frame(page.key)), at: SystemClock.monotonic())
      }
    }
  }
}
