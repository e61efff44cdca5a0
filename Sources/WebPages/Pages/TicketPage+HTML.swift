// HTML of a ticket, the kiosk and the call display.
// Invariant: every attempt shows its window, process, generation and end as far as they are known, in order of time.
// New output of a command is shown after older output.
import BankModel

extension KioskPage {
  /// Title of the page.
  public func title(_ frame: PageFrame) -> String { frame.words.kiosk }

  /// Changing regions of the page.
  public func parts(_ frame: PageFrame) -> [Region] {
    [
      .rows(
        "lines", services, key: \.service.text,
        row: { service in
          let paused: HTML? = service.isPaused ? #" <b class="badge paused">\#(frame.words.paused)</b>"# : nil
          return """
            <li data-key="\(service.service)" class="\(frame.tint(service.service))">\
            <span>\(frame.words.phrases.service(service.service))\(paused)</span> \
            <b>\(frame.words.people(service.waitingTotal))</b></li>
            """
        })
    ]
  }

  /// Content of the page.
  public func body(_ frame: PageFrame, _ regions: [Region]) -> HTML {
    let words = frame.words
    // Juice is ordered on its own page, which offers the names of the juices.
    let names = services.isEmpty ? ServiceName.drawn : services.map(\.service).filter { $0 != .juice }
    let grades = zip(Priority.gradeNames, Priority.grades).reversed().map { ($0, words.phrases.standing($1)) }
    let taken: HTML? = latest.map {
      #"<p class="banner good"><a href="\#(frame.address(of: $0, day))">\#(words.customer($0))</a></p>"#
    }
    let inside: HTML = """
      \(frame.serviceChoice(names, words.byChance, chosen: nil))
      \(frame.select("grade", words.grade, grades, chosen: "regular"))
      \(frame.number("count", words.howMany, value: 1, in: 1...1_000))
      <label class="field wide"><span>\(words.payload)</span>\
      <textarea name="payload" rows="3" maxlength="60000"></textarea>\
      <small>\(words.payloadHint)</small></label>
      \(frame.button(words.take, "add large", attributes: #" data-action="take""#))
      """
    return """
      \(frame.heading(words.kiosk))\(taken)
      <div class="columns">
      <section class="card">\(frame.form("/customers", [("from", "kiosk")], attributes: #" class="fields""#, inside))
      <p class="quiet"><a href="/juice">\(words.juiceElsewhere)</a></p></section>
      <section class="card"><h2>\(words.queueNow)</h2>\(regions.place("lines", "ul", #" class="pairs""#))</section>
      </div>
      """
  }
}

extension TicketPage {
  /// Title of the page.
  public func title(_ frame: PageFrame) -> String { frame.words.customer(ticket) }

  /// Includes the day, because the number belongs to another customer on another day.
  public var lastingAddress: String? { "/ticket/\(ticket)?day=\(day)" }

  /// Changing regions of the page.
  public func parts(_ frame: PageFrame) -> [Region] {
    let parts: [Region] = [
      .block("standing", standing(frame)), .block("actions", actions(frame)),
      .rows("attempts", attempts.enumerated(), key: { "\($0.offset + 1)" }, row: { attempt($0, frame) }),
      .block("receipt", receiptPart(frame)), .block("spoken", "\(frame.words.phrases.state(state))"),
    ]
    guard mayWrite else { return parts }
    return parts + [
      .block("cut", outputRemark(frame.words).map { #"<p class="quiet">\#($0)</p>"# } ?? ""),
      .rows(
        "output", output, key: { "\($0.number)" },
        row: { chunk in
          let error: HTML = chunk.isError ? #" class="error""# : ""
          return #"<span data-key="\#(chunk.number)"\#(error)>\#(chunk.text)</span>"#
        }),
    ]
  }

  /// True if the work of the customer may write output. Work of the three built-in services does not.
  private var mayWrite: Bool { ![.deposit, .loan, .juice].contains(service) || !output.isEmpty }

  /// Remark above the output: that a part is omitted, or why there is no output. Nil if the output is complete.
  private func outputRemark(_ words: PageWords) -> String? {
    if isCut { return words.outputCut }
    guard output.isEmpty else { return nil }
    guard state == .done else { return words.noOutput }
    return receipt?.result != nil || receipt?.errors != nil ? words.outputInReceipt : words.noOutputAtAll
  }

  /// Content of the page.
  public func body(_ frame: PageFrame, _ regions: [Region]) -> HTML {
    let words = frame.words
    let money: HTML? =
      amount > 0
      ? "<div><dt>\(words.amount)</dt><dd>\(words.won(amount))</dd></div><div><dt>\(words.account)</dt><dd>\(account)</dd></div>"
      : nil
    let ordered: HTML? = article.map {
      "<div><dt>\(words.business)</dt><dd>\(words.juice(ItemID($0)))</dd></div>"
    }
    let carried: HTML? = payload.map {
      #"<details class="card"><summary>\#(words.handedOver)</summary>\#(frame.text($0))</details>"#
    }
    let written: HTML? =
      !mayWrite
      ? nil
      : """
      <section class="card"><h2>\(words.output)</h2>\(regions.place("cut"))
      \(regions.place("output", "pre", #" class="output" tabindex="0" data-tail"#))
      </section>
      """
    return """
      <div class="stub \(frame.tint(service))">
      <p class="quiet">\(words.day(day))</p>
      <h1><span class="unseen">\(words.customer(ticket))</span><b class="number" aria-hidden="true">\(ticket)</b></h1>
      <p class="large">\(words.phrases.service(service)) · \(words.phrases.standing(priority))</p>
      <dl class="facts">\(money)\(ordered)</dl>
      \(regions.place("standing"))
      \(regions.place("spoken", "p", " hidden"))
      \(regions.place("actions", "div", #" class="actions""#))
      </div>
      \(carried)
      <section class="card"><h2>\(words.story)</h2>
      <ol class="timeline"><li>\(frame.date(issuedAt)) \(words.ticketIssued)</li></ol>
      \(regions.place("attempts", "ol", #" class="timeline""#))
      </section>
      <section class="card"><h2>\(words.receipt)</h2>\(regions.place("receipt"))</section>
      \(written)
      """
  }

  private func standing(_ frame: PageFrame) -> HTML {
    let words = frame.words
    let place: HTML? = position.map { "<div><dt>\(words.place)</dt><dd>\(words.count($0))</dd></div>" }
    let wait: HTML? = etaMilliseconds.map {
      "<div><dt>\(words.estimate)</dt><dd>\(words.phrases.span(milliseconds: $0))</dd></div>"
    }
    let at: HTML? = window.map { "<div><dt>\(words.window)</dt><dd>\($0)</dd></div>" }
    let due: HTML? = dueAt.map { "<div><dt>\(words.scheduled)</dt><dd>\(frame.date($0))</dd></div>" }
    return """
      <p><b class="badge \(state.name)">\(words.mark(state))</b></p>
      <dl class="facts">\(place)\(wait)\(at)\(due)</dl>\(frame.progressBar(percent, progress))
      """
  }

  private func actions(_ frame: PageFrame) -> HTML {
    guard state != .done else { return "" }
    let chosen = [(name: HTML("ticket"), value: "\(ticket)"), (name: HTML("day"), value: "\(day)")]
    let requeue: HTML? =
      state == .dead
      ? frame.form(
        "/tickets/requeue", chosen, attributes: " data-ask", frame.button(frame.words.requeue, "strong"))
      : nil
    return
      "\(requeue)\(frame.form("/tickets/cancel", chosen, attributes: " data-ask", frame.button(frame.words.cancel, "danger")))"
  }

  private func attempt(_ numbered: (offset: Int, element: AttemptRow), _ frame: PageFrame) -> HTML {
    let (words, attempt) = (frame.words, numbered.element)
    let isBad = attempt.end.map { $0 != .served } ?? false
    let branch: HTML? = attempt.branch.map { ", \(words.branchNumber($0))" }
    // In a shared bank the window has no link: it may be one of another branch, whose logs are not on this host, and a
    // window of the same name may exist here.
    let window: HTML =
      attempt.branch == nil
      ? #"<a href="/windows/\#(attempt.window)/log">\#(attempt.window)</a>"# : "\(attempt.window)"
    let began: HTML? =
      attempt.end == .lost || attempt.window.isEmpty
      ? nil
      : """
      <p>\(frame.moment(attempt.startedAt)) \(window), \
      \(words.generation(attempt.generation)), pid \(attempt.pid)\(branch)</p>
      """
    let signal: HTML? = attempt.signal.map { " (<b>\($0)</b>)" }
    let code: HTML? = attempt.code.map { " (\(words.phrases.exitCode($0)))" }
    let ended: HTML? = attempt.end.map {
      let text = attempt.isFatal ? words.phrases.attemptFailed($0) : words.phrases.attemptEnded($0)
      return
        #"<p class="\#(isBad ? "alarm" : "good")">\#(attempt.endedAt.map(frame.moment)) \#(text)\#(signal)\#(code)</p>"#
    }
    let said: HTML? = attempt.words.map { "<pre>\($0)</pre>" }
    let name = words.attempt(Int64(numbered.offset) + 1)
    return """
      <li data-key="\(numbered.offset + 1)" class="\(isBad ? "bad" : "")"><b>\(name)</b>\(began)\(ended)\(said)</li>
      """
  }

  private func receiptPart(_ frame: PageFrame) -> HTML {
    guard let receipt else { return #"<p class="quiet">\#(frame.words.noReceipt)</p>"# }
    let words = frame.words
    let transfer: HTML? =
      if let debit = receipt.debit, let credit = receipt.credit {
        "<p>\(words.phrases.ledgerAccount(debit)) → \(words.phrases.ledgerAccount(credit)), <b>\(words.won(receipt.amount))</b></p>"
      } else { nil }
    let missing = receipt.missing.map { shortage -> HTML in
      "<p>\(words.item(shortage.item)) \(shortage.available)/\(shortage.needed)</p>"
    }
    let result: HTML? = receipt.result.map { "<h3>\(words.result)</h3>\(frame.text($0))" }
    let errors: HTML? = receipt.errors.map { "<h3>\(words.errors)</h3>\(frame.text($0))" }
    let code: HTML? = receipt.exitCode.map { "<p>\(words.phrases.exitCode($0))</p>" }
    return """
      <div class="receipt"><p><b>\(words.phrases.outcome(receipt.outcome))</b> · \(frame.date(receipt.finishedAt))</p>\
      \(transfer)\(missing)\(code)\(result)\(errors)</div>
      """
  }
}

extension LobbyPage {
  /// Title of the page.
  public func title(_ frame: PageFrame) -> String { frame.words.lobby }
  /// Layout for a wall display.
  public var look: HTML { "wall" }

  /// Changing regions of the page.
  public func parts(_ frame: PageFrame) -> [Region] {
    let words = frame.words
    return [
      .rows("newest", calls.prefix(1), key: \.key, row: { call($0, frame) }),
      .rows("calls", calls.dropFirst().prefix(4), key: \.key, row: { call($0, frame) }),
      .block(
        "counts",
        """
        <dl class="figures">\(frame.figure(words.waiting, waiting, "green"))\
        \(frame.figure(words.serving, serving, "indigo"))\(frame.figure(words.served, served))</dl>
        """),
      .block("spoken", spoken(frame)),
    ]
  }

  /// Content of the page.
  public func body(_ frame: PageFrame, _ regions: [Region]) -> HTML {
    let words = frame.words
    return """
      <h1 class="unseen">\(words.lobby)</h1>
      \(regions.place("spoken", "p", " hidden"))
      \(regions.place("newest", "ol", #" class="newest" data-empty="\#(words.noCalls)""#))
      <h2 class="unseen">\(words.lastCalls)</h2>
      \(regions.place("calls", "ol", #" class="calls""#))
      \(regions.place("counts"))
      <p class="chime"><button type="button" data-chime aria-pressed="false" data-on="\(words.chimeOn)" \
      data-off="\(words.chimeOff)" hidden>\(words.chimeOn)</button></p>
      """
  }

  private func call(_ call: Call, _ frame: PageFrame) -> HTML {
    let again: HTML? = call.isAgain ? #" <small class="again">\#(frame.words.again)</small>"# : nil
    return """
      <li data-key="\(call.key)" class="\(frame.tint(call.service))"><b class="number">\(call.ticket)</b> \
      <span>\(frame.words.phrases.service(call.service))\(frame.gradeMark(call.priority))\(again)</span> \
      <span class="at">\(frame.words.counter(call.window, call.service))</span></li>
      """
  }

  private func spoken(_ frame: PageFrame) -> HTML {
    guard let call = calls.first else { return "" }
    return "\(frame.words.customer(call.ticket)), \(frame.words.counter(call.window, call.service))"
  }
}
