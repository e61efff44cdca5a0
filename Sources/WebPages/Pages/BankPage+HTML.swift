// HTML of the bank's page.
// Invariant: the buttons are outside of the regions, so that a change does not interrupt a press.
import BankModel

extension BankPage {
  /// Title of the page.
  public func title(_ frame: PageFrame) -> String { frame.messages.bank }

  /// No additional style sheet, so that this page loads fast.
  public var sheets: [String] { [] }

  /// Changing regions of the page.
  public func parts(_ frame: PageFrame) -> [Region] {
    let messages = frame.messages
    return [
      .block("state", state(frame)), .block("timer", timer(frame)), .block("counts", frame.figures(counts)),
      .block("waiting-count", #"\#(messages.count(counts.waiting))"#),
      .rows("waiting", waiting, key: { "\($0.ticket)" }, row: { row($0, frame) }),
      .block("more", more(frame)),
      .block("serving-count", #"\#(messages.count(counts.serving))"#),
      .rows("serving", serving, key: { "\($0.ticket)" }, row: { row($0, frame) }),
      .block("rates", frame.rates(rates)), .block("branches", branches(frame)),
      .rows("events", events.reversed(), key: { "\($0.sequence)" }, row: frame.event),
      .block(
        "spoken",
        "\(messages.waitingCount(counts.waiting)), \(messages.servingCount(counts.serving))"),
    ]
  }

  /// Content of the page.
  public func body(_ frame: PageFrame, _ regions: [Region]) -> HTML {
    let messages = frame.messages
    return """
      <h1 class="unseen">\(messages.bank)</h1>
      \(regions.place("spoken", "p", " hidden"))
      <section class="bank">
      <div class="bank-head">
      \(regions.place("timer"))
      \(regions.place("state"))
      <div class="bank-buttons">
      \(frame.form("/customers", [("count", "10"), ("from", "bank")], frame.button(messages.addTen, "add", attributes: #" data-action="add""#)))
      <form method="get" action="/reset" data-ask>\(frame.button(messages.reset, "danger", attributes: #" data-action="reset""#))</form>
      </div>
      </div>
      <div class="lists">
      <section class="list green" aria-labelledby="waiting-heading">
      <h2 id="waiting-heading">\(messages.phrases.header(.waiting)) \(regions.place("waiting-count", "span", #" class="count""#))</h2>
      <div class="scroll" tabindex="0" role="group" aria-labelledby="waiting-heading">
      \(regions.place("waiting", "ol", #" data-list="waiting" data-empty="\#(messages.noneWaiting)""#))
      \(regions.place("more"))
      </div>
      </section>
      <section class="list indigo" aria-labelledby="serving-heading">
      <h2 id="serving-heading">\(messages.phrases.header(.serving)) \(regions.place("serving-count", "span", #" class="count""#))</h2>
      <div class="scroll" tabindex="0" role="group" aria-labelledby="serving-heading">
      \(regions.place("serving", "ol", #" data-list="serving" data-empty="\#(messages.noneServed)""#))
      </div>
      </section>
      </div>
      </section>
      \(regions.place("counts"))
      \(regions.place("rates"))
      \(regions.place("branches"))
      <section class="card">
      <h2>\(messages.events)</h2>
      \(regions.place("events", "ol", #" class="events" data-empty="\#(messages.nothingHappened)""#))
      </section>
      """
  }

  /// State of the bank, day, and process of the coordinator.
  private func state(_ frame: PageFrame) -> HTML {
    let process: HTML? = coordinator.map {
      #" <span class="quiet">· \#(frame.messages.generation(generation)), pid \#($0)</span>"#
    }
    return """
      <p class="state"><b class="badge \(state.name)">\(frame.messages.phrases.state(state))</b> \
      \(frame.messages.day(day))\(process)</p>
      """
  }

  /// List of the branches; empty for a bank whose database is in its home.
  private func branches(_ frame: PageFrame) -> HTML {
    guard !branches.isEmpty else { return "" }
    let items = branches.map { branch -> HTML in
      let here: HTML? = branch.isThis ? #" aria-current="true""# : nil
      return """
        <li data-branch="\(branch.number)"\(here)><b class="badge \(branch.state.name)">\
        \(frame.messages.phrases.state(branch.state))</b> \(frame.messages.line(of: branch))</li>
        """
    }
    return #"<ul class="branches" aria-label="\#(frame.messages.branches)">\#(items)</ul>"#
  }

  /// The business time, which the script keeps up to date.
  private func timer(_ frame: PageFrame) -> HTML {
    """
    <p class="timer" data-timer data-ms="\(businessMilliseconds)" data-runs="\(timerRuns ? "true" : "false")">\
    \(frame.messages.phrases.businessTime) - <span>\(StringCatalog.timer(milliseconds: businessMilliseconds))</span></p>
    """
  }

  /// Link to the list of all waiting customers, with the number of those not shown; empty if there are none.
  private func more(_ frame: PageFrame) -> HTML {
    let hidden = counts.waiting &- Int64(waiting.count)
    guard hidden > 0, !waiting.isEmpty else { return "" }
    let text = frame.messages.localized(
      "and \(frame.messages.customerCount(hidden)) more", "외 \(frame.messages.customerCount(hidden))")
    return #"<p class="more"><a href="/tickets?state=waiting">\#(text)</a></p>"#
  }

  /// List item of a waiting customer.
  private func row(_ row: WaitingRow, _ frame: PageFrame) -> HTML {
    """
    <li data-key="\(row.ticket)" data-ticket="\(row.ticket)"\(frame.tintAttribute(row.service))>\
    \(frame.ticketLink(row.ticket, of: day, row.service, row.priority))</li>
    """
  }

  /// List item of a customer at a window.
  private func row(_ row: ServingRow, _ frame: PageFrame) -> HTML {
    let again: HTML? =
      row.attempt > 1 ? #" · <b class="again">\#(frame.messages.attempt(row.attempt))</b>"# : nil
    return """
      <li data-key="\(row.ticket)" data-ticket="\(row.ticket)"\(frame.tintAttribute(row.service))>\
      \(frame.ticketLink(row.ticket, of: day, row.service, row.priority)) \
      <small>\(row.window)\(again)</small>\(frame.progressBar(row.percent, row.progress))</li>
      """
  }
}
