// Delay until a user sees a change: the time from a new customer until a real browser has painted its row, and the time
// from a request for the first page until the browser has painted anything. Without a browser, a note is printed and
// nothing is measured. The browser is headless, so the screen's own delay is not included.
import ControlClient
import HeadlessBrowser
import Posix
import Time

extension Bench {
  /// Measures painting with one viewer, and beside many others.
  func measurePaintTimes() throws {
    guard Browser.isInstalled else {
      return printProgress(
        "there is no chromium-headless-shell (scripts/setup tests): painting is not measured")
    }
    try withBrowser { browser in
      for (others, target) in [(0, 60.0), (1_000, 100)] {
        // No customer is served, so the line only grows. Each case has its own bank, so that the page shows all
        // rows.
        let bank = try BenchBank(self, BankSetting(deposit: 1, loan: 0))
        try bank.ask(.pause(nil))
        let page = try BenchPage(self, of: bank)
        let sheet = try browser.page()
        _ = try sheet.go(to: try page.link())
        if others == 0 { try measureFirstPaint(of: sheet) }
        let crowd = others > 0 ? try page.viewers(others) : nil
        try measurePainting(of: bank, on: sheet, others, target: target)
        try crowd?.stop()
        try bank.discard()
      }
    }
  }

  /// Measures the first paint of a page that is not cached, and the size of the page.
  private func measureFirstPaint(of page: Page) throws {
    let address = try page.text("location.origin + '/'")
    try page.disableCache()
    var figures: [Double] = []
    for _ in 0..<2 * scale.rounds + 1 {
      try page.go(to: address)
      try page.wait(for: Self.paint)
      figures.append(try page.evaluate("\(Self.paint).startTime").number ?? .infinity)
    }
    add("screens", "first paint of the first page", "ms", Samples(figures), target: .below(150))
    let weight = try page.evaluate(
      """
      [...performance.getEntriesByType('navigation'), ...performance.getEntriesByType('resource')]
        .filter(entry => !entry.name.includes('/events')).reduce((sum, entry) => sum + entry.transferSize, 0)
      """
    ).number
    add("screens", "  its size", "kB", Samples((weight ?? .infinity) / 1_000), target: .below(60))
  }

  /// Expression of the browser's record of the first paint.
  private static let paint = "performance.getEntriesByName('first-contentful-paint')[0]"

  /// Measures the time from a new customer to the paint of its row.
  private func measurePainting(
    of bank: BenchBank, on page: Page, _ others: Int, target: Double
  ) throws {
    try page.go(to: try page.text("location.origin + '/'"))
    try page.wait(for: "document.querySelector('[data-list=waiting]')")
    try page.evaluate(Self.watch)
    // The count stays below the number of customers of a line that the page shows.
    let count = min(190, 60 * scale.rounds)
    var figures: [Double] = []
    for ticket in 1...count {
      try page.evaluate("expectTicket(\(ticket))")
      try bank.enqueue(1, .deposit)
      figures.append(try page.evaluate("painting").number ?? .infinity)
      // The pause varies, so that customers arrive at different times between two frames.
      try rest(.milliseconds(Int64(ticket * 7 % 60)))
    }
    let samples = Samples(figures)
    add(
      "screens", others == 0 ? "event → painted, one viewer" : "event → painted beside \(others) viewers",
      "ms",
      samples)
    add(
      "screens", "  the slowest of a hundred", "ms", Samples(samples.percentile(99)), target: .below(target))
  }

  /// Script: `painting` is a promise of the milliseconds from `expectTicket` until the ticket's row is painted. A
  /// callback requested in the frame of a change runs before painting, and the message that it sends is handled after
  /// painting.
  private static let watch = """
    (() => {
      let ticket = 0, begin = 0, tell = null;
      const look = () => {
        if (!tell || !document.querySelector(`[data-list=waiting] [data-ticket="${ticket}"]`)) return;
        const told = tell;
        tell = null;
        requestAnimationFrame(() => {
          const channel = new MessageChannel();
          channel.port1.onmessage = () => told(performance.now() - begin);
          channel.port2.postMessage(0);
        });
      };
      new MutationObserver(look).observe(document.body, {subtree: true, childList: true, attributes: true});
      window.expectTicket = number => {
        window.painting = new Promise(resolve => { tell = resolve; });
        ticket = number;
        begin = performance.now();
      };
    })()
    """
}
