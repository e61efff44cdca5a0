// HTML of the bank's page: the two lists, the timer, the two buttons, the numbers, and the last events.
// Invariant: the buttons are outside of all regions, so that a change never interrupts a press.
import BankModel

extension BankPage {
  /// Title of the page.
  public func title(_ frame: PageFrame) -> String { frame.words.bank }

  /// No additional style sheet: most browsers open this page first, and it must load fast.
  public var sheets: [String] { [] }

  /// Changing regions of the page.
  public func parts(_ frame: PageFrame) -> [Region] {
    let words = frame.words
    return [
      .block("state", state(frame)), .block("timer", timer(frame)), .block("counts", frame.figures(counts)),
      .block("waiting-count", #"\#(words.count(counts.waiting))"#),
      .rows("waiting", waiting, key: { "\($0.ticket)" }, row: { row($0, frame) }),
      .block("more", more(frame)),
      .block("serving-count", #"\#(words.count(counts.serving))"#),
      .rows("serving", serving, key: { "\($0.ticket)" }, row: { row($0, frame) }),
      .block("rates", frame.rates(rates)), .block("branches", branches(frame)),
      .rows("events", events.reversed(), key: { "\($0.sequence)" }, row: frame.event),
      .block(
        "spoken",
        "\(words.whoWaits(counts.waiting)), \(words.whoIsServed(counts.serving))"),
    ]
  }

  /// Content of the page.
  public func body(_ frame: PageFrame, _ regions: [Region]) -> HTML {
    let words = frame.words
    return """
      <h1 class="unseen">\(words.bank)</h1>
      \(regions.place("spoken", "p", " hidden"))
      <section class="bank">
      <div class="bank-head">
      \(regions.place("timer"))
      \(regions.place("state"))
      <div class="bank-buttons">
      \(frame.form("/customers", [("count", "10"), ("from", "bank")], frame.button(words.addTen, "add", attributes: #" data-action="add""#)))
      <form method="get" action="/reset" data-ask>\(frame.button(words.reset, "danger", attributes: #" data-action="reset""#))</form>
      </div>
      </div>
      <div class="lists">
      <section class="list green" aria-labelledby="waiting-heading">
      <h2 id="waiting-heading">\(words.phrases.header(.waiting)) \(regions.place("waiting-count", "span", #" class="count""#))</h2>
      <div class="scroll" tabindex="0" role="group" aria-labelledby="waiting-heading">
      \(regions.place("waiting", "ol", #" data-list="waiting" data-empty="\#(words.nobodyWaits)""#))
      \(regions.place("more"))
      </div>
      </section>
      <section class="list indigo" aria-labelledby="serving-heading">
      <h2 id="serving-heading">\(words.phrases.header(.serving)) \(regions.place("serving-count", "span", #" class="count""#))</h2>
      <div class="scroll" tabindex="0" role="group" aria-labelledby="serving-heading">
      \(regions.place("serving", "ol", #" data-list="serving" data-empty="\#(words.nobodyServed)""#))
      </div>
      </section>
      </div>
      </section>
      \(regions.place("counts"))
      \(regions.place("rates"))
      \(regions.place("branches"))
      <section class="card">
      <h2>\(words.events)</h2>
      \(regions.place("events", "ol", #" class="events" data-empty="\#(words.nothingHappened)""#))
      </section>
      """
  }

  private func state(_ frame: PageFrame) -> HTML {
    let process: HTML? = coordinator.map {
      #" <span class="quiet">· \#(frame.words.generation(generation)), pid \#($0)</span>"#
    }
    return """
      <p class="state"><b class="badge \(state.name)">\(frame.words.phrases.state(state))</b> \
      \(frame.words.day(day))\(process)</p>
      """
  }

  /// List of the branches; empty for a bank whose database is in its home.
  private func branches(_ frame: PageFrame) -> HTML {
    guard !branches.isEmpty else { return "" }
    let items = branches.map { branch -> HTML in
      let here: HTML? = branch.isThis ? #" aria-current="true""# : nil
      return """
        <li data-branch="\(branch.number)"\(here)><b class="badge \(branch.state.name)">\
        \(frame.words.phrases.state(branch.state))</b> \(frame.words.line(of: branch))</li>
        """
    }
    return #"<ul class="branches" aria-label="\#(frame.words.branches)">\#(items)</ul>"#
  }

  private func timer(_ frame: PageFrame) -> HTML {
    """
    <p class="timer" data-timer data-ms="\(businessMilliseconds)" data-runs="\(timerRuns ? "true" : "false")">\
    \(frame.words.phrases.businessTime) - <span>\(Phrasebook.timer(milliseconds: businessMilliseconds))</span></p>
    """
  }

  private func more(_ frame: PageFrame) -> HTML {
    let hidden = counts.waiting &- Int64(waiting.count)
    guard hidden > 0, !waiting.isEmpty else { return "" }
    let text = frame.words.say("and \(frame.words.people(hidden)) more", "외 \(frame.words.people(hidden))")
    return #"<p class="more"><a href="/tickets?state=waiting">\#(text)</a></p>"#
  }

  private func row(_ row: WaitingRow, _ frame: PageFrame) -> HTML {
    """
    <li data-key="\(row.ticket)" data-ticket="\(row.ticket)"\(frame.tintMark(row.service))>\
    \(frame.ticketLink(row.ticket, of: day, row.service, row.priority))</li>
    """
  }

  private func row(_ row: ServingRow, _ frame: PageFrame) -> HTML {
    let again: HTML? =
      row.attempt > 1 ? #" · <b class="again">\#(frame.words.attempt(row.attempt))</b>"# : nil
    return """
      <li data-key="\(row.ticket)" data-ticket="\(row.ticket)"\(frame.tintMark(row.service))>\
      \(frame.ticketLink(row.ticket, of: day, row.service, row.priority)) \
      <small>\(row.window)\(again)</small>\(frame.progressBar(row.percent, row.progress))</li>
      """
  }
}
