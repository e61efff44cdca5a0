// HTML of a ticket, the kiosk and the call display.
// Invariant: attempts are shown in order of time, and new output of a stream after its older output.
import BankModel

extension KioskPage {
  /// Title of the page.
  public func title(_ frame: PageFrame) -> String { frame.messages.kiosk }

  /// Changing regions of the page.
  public func parts(_ frame: PageFrame) -> [Region] {
    [
      .rows(
        "lines", services, key: \.service.text,
        row: { service in
          let paused: HTML? =
            service.isPaused ? #" <b class="badge paused">\#(frame.messages.paused)</b>"# : nil
          return """
            <li data-key="\(service.service)" class="\(frame.tint(service.service))">\
            <span>\(frame.messages.phrases.service(service.service))\(paused)</span> \
            <b>\(frame.messages.customerCount(service.waitingTotal))</b></li>
            """
        })
    ]
  }

  /// Content of the page.
  public func body(_ frame: PageFrame, _ regions: [Region]) -> HTML {
    let messages = frame.messages
    // Juice is ordered on its own page, which offers the names of the juices.
    let names = services.isEmpty ? ServiceName.drawn : services.map(\.service).filter { $0 != .juice }
    let grades = zip(Priority.gradeNames, Priority.grades).reversed().map {
      ($0, messages.phrases.standing($1))
    }
    let taken: HTML? = latest.map {
      #"<p class="banner good"><a href="\#(frame.address(of: $0, day))">\#(messages.customer($0))</a></p>"#
    }
    let inside: HTML = """
      \(frame.serviceChoice(names, messages.randomService, chosen: nil))
      \(frame.select("grade", messages.grade, grades, chosen: "regular"))
      \(frame.number("count", messages.howMany, value: 1, in: 1...1_000))
      <label class="field wide"><span>\(messages.payload)</span>\
      <textarea name="payload" rows="3" maxlength="60000"></textarea>\
      <small>\(messages.payloadHint)</small></label>
      \(frame.button(messages.take, "add large", attributes: #" data-action="take""#))
      """
    return """
      \(frame.heading(messages.kiosk))\(taken)
      <div class="columns">
      <section class="card">\(frame.form("/customers", [("from", "kiosk")], attributes: #" class="fields""#, inside))
      <p class="quiet"><a href="/juice">\(messages.juiceElsewhere)</a></p></section>
      <section class="card"><h2>\(messages.queueNow)</h2>\(regions.place("lines", "ul", #" class="pairs""#))</section>
      </div>
      """
  }
}

extension TicketPage {
  /// Title of the page.
  public func title(_ frame: PageFrame) -> String { frame.messages.customer(ticket) }

  /// Address with the day, because the number belongs to another customer on another day.
  public var lastingAddress: String? { "/ticket/\(ticket)?day=\(day)" }

  /// Changing regions of the page.
  public func parts(_ frame: PageFrame) -> [Region] {
    let parts: [Region] = [
      .block("standing", standing(frame)), .block("actions", actions(frame)),
      .rows("attempts", attempts.enumerated(), key: { "\($0.offset + 1)" }, row: { attempt($0, frame) }),
      .block("receipt", receiptPart(frame)), .block("spoken", "\(frame.messages.phrases.state(state))"),
    ]
    guard mayWrite else { return parts }
    return parts + [
      .block("cut", outputNote(frame.messages).map { #"<p class="quiet">\#($0)</p>"# } ?? ""),
      .rows(
        "output", output, key: { "\($0.number)" },
        row: { chunk in
          let error: HTML = chunk.isError ? #" class="error""# : ""
          return #"<span data-key="\#(chunk.number)"\#(error)>\#(chunk.text)</span>"#
        }),
    ]
  }

  /// True if the work of the customer may write output.
  private var mayWrite: Bool { ![.deposit, .loan, .juice].contains(service) || !output.isEmpty }

  /// Remark above the output: that a part is omitted, or why there is no output; nil for neither.
  private func outputNote(_ messages: PageMessages) -> String? {
    if isTruncated { return messages.outputCut }
    guard output.isEmpty else { return nil }
    guard state == .done else { return messages.noOutput }
    return receipt?.result != nil || receipt?.errors != nil
      ? messages.outputInReceipt : messages.noOutputAtAll
  }

  /// Content of the page.
  public func body(_ frame: PageFrame, _ regions: [Region]) -> HTML {
    let messages = frame.messages
    let money: HTML? =
      amount > 0
      ? "<div><dt>\(messages.amount)</dt><dd>\(messages.won(amount))</dd></div><div><dt>\(messages.account)</dt><dd>\(account)</dd></div>"
      : nil
    let ordered: HTML? = itemName.map {
      "<div><dt>\(messages.business)</dt><dd>\(messages.juice(ItemID($0)))</dd></div>"
    }
    let carried: HTML? = payload.map {
      #"<details class="card"><summary>\#(messages.payloadHeading)</summary>\#(frame.text($0))</details>"#
    }
    let written: HTML? =
      !mayWrite
      ? nil
      : """
      <section class="card"><h2>\(messages.output)</h2>\(regions.place("cut"))
      \(regions.place("output", "pre", #" class="output" tabindex="0" data-tail"#))
      </section>
      """
    return """
      <div class="stub \(frame.tint(service))">
      <p class="quiet">\(messages.day(day))</p>
      <h1><span class="unseen">\(messages.customer(ticket))</span><b class="number" aria-hidden="true">\(ticket)</b></h1>
      <p class="large">\(messages.phrases.service(service)) · \(messages.phrases.standing(priority))</p>
      <dl class="facts">\(money)\(ordered)</dl>
      \(regions.place("standing"))
      \(regions.place("spoken", "p", " hidden"))
      \(regions.place("actions", "div", #" class="actions""#))
      </div>
      \(carried)
      <section class="card"><h2>\(messages.ticketHistory)</h2>
      <ol class="timeline"><li>\(frame.date(issuedAt)) \(messages.ticketIssued)</li></ol>
      \(regions.place("attempts", "ol", #" class="timeline""#))
      </section>
      <section class="card"><h2>\(messages.receipt)</h2>\(regions.place("receipt"))</section>
      \(written)
      """
  }

  /// State, place in line, expected wait, window, due time and progress of the customer.
  private func standing(_ frame: PageFrame) -> HTML {
    let messages = frame.messages
    let place: HTML? = position.map { "<div><dt>\(messages.place)</dt><dd>\(messages.count($0))</dd></div>" }
    let wait: HTML? = etaMilliseconds.map {
      "<div><dt>\(messages.estimate)</dt><dd>\(messages.phrases.span(milliseconds: $0))</dd></div>"
    }
    let at: HTML? = window.map { "<div><dt>\(messages.window)</dt><dd>\($0)</dd></div>" }
    let due: HTML? = dueAt.map { "<div><dt>\(messages.scheduled)</dt><dd>\(frame.date($0))</dd></div>" }
    return """
      <p><b class="badge \(state.name)">\(messages.stateLabel(state))</b></p>
      <dl class="facts">\(place)\(wait)\(at)\(due)</dl>\(frame.progressBar(percent, progress))
      """
  }

  /// Buttons that requeue and cancel the customer; empty if the customer has its receipt.
  private func actions(_ frame: PageFrame) -> HTML {
    guard state != .done else { return "" }
    let chosen = [(name: HTML("ticket"), value: "\(ticket)"), (name: HTML("day"), value: "\(day)")]
    let requeue: HTML? =
      state == .dead
      ? frame.form(
        "/tickets/requeue", chosen, attributes: " data-ask", frame.button(frame.messages.requeue, "strong"))
      : nil
    return
      "\(requeue)\(frame.form("/tickets/cancel", chosen, attributes: " data-ask", frame.button(frame.messages.cancel, "danger")))"
  }

  /// List item of one attempt.
  private func attempt(_ numbered: (offset: Int, element: AttemptRow), _ frame: PageFrame) -> HTML {
    let (messages, attempt) = (frame.messages, numbered.element)
    let isBad = attempt.end.map { $0 != .served } ?? false
    let branch: HTML? = attempt.branch.map { ", \(messages.branchNumber($0))" }
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
      \(messages.generation(attempt.generation)), pid \(attempt.pid)\(branch)</p>
      """
    let signal: HTML? = attempt.signal.map { " (<b>\($0)</b>)" }
    let code: HTML? = attempt.code.map { " (\(messages.phrases.exitCode($0)))" }
    let ended: HTML? = attempt.end.map {
      let text = attempt.isFatal ? messages.phrases.attemptFailed($0) : messages.phrases.attemptEnded($0)
      return
        #"<p class="\#(isBad ? "alarm" : "good")">\#(attempt.endedAt.map(frame.moment)) \#(text)\#(signal)\#(code)</p>"#
    }
    let said: HTML? = attempt.message.map { "<pre>\($0)</pre>" }
    let name = messages.attempt(Int64(numbered.offset) + 1)
    return """
      <li data-key="\(numbered.offset + 1)" class="\(isBad ? "bad" : "")"><b>\(name)</b>\(began)\(ended)\(said)</li>
      """
  }

  /// The receipt, or a remark that there is none yet.
  private func receiptPart(_ frame: PageFrame) -> HTML {
    guard let receipt else { return #"<p class="quiet">\#(frame.messages.noReceipt)</p>"# }
    let messages = frame.messages
    let transfer: HTML? =
      if let debit = receipt.debit, let credit = receipt.credit {
        "<p>\(messages.phrases.ledgerAccount(debit)) → \(messages.phrases.ledgerAccount(credit)), <b>\(messages.won(receipt.amount))</b></p>"
      } else { nil }
    let missing = receipt.missing.map { shortage -> HTML in
      "<p>\(messages.item(shortage.item)) \(shortage.available)/\(shortage.needed)</p>"
    }
    let result: HTML? = receipt.result.map { "<h3>\(messages.result)</h3>\(frame.text($0))" }
    let errors: HTML? = receipt.errors.map { "<h3>\(messages.errors)</h3>\(frame.text($0))" }
    let code: HTML? = receipt.exitCode.map { "<p>\(messages.phrases.exitCode($0))</p>" }
    return """
      <div class="receipt"><p><b>\(messages.phrases.outcome(receipt.outcome))</b> · \(frame.date(receipt.finishedAt))</p>\
      \(transfer)\(missing)\(code)\(result)\(errors)</div>
      """
  }
}

extension LobbyPage {
  /// Title of the page.
  public func title(_ frame: PageFrame) -> String { frame.messages.lobby }
  /// Layout for a wall display.
  public var cssClass: HTML { "wall" }

  /// Changing regions of the page.
  public func parts(_ frame: PageFrame) -> [Region] {
    let messages = frame.messages
    return [
      .rows("newest", calls.prefix(1), key: \.key, row: { call($0, frame) }),
      .rows("calls", calls.dropFirst().prefix(4), key: \.key, row: { call($0, frame) }),
      .block(
        "counts",
        """
        <dl class="figures">\(frame.figure(messages.waiting, waiting, "green"))\
        \(frame.figure(messages.serving, serving, "indigo"))\(frame.figure(messages.served, served))</dl>
        """),
      .block("spoken", spoken(frame)),
    ]
  }

  /// Content of the page.
  public func body(_ frame: PageFrame, _ regions: [Region]) -> HTML {
    let messages = frame.messages
    return """
      <h1 class="unseen">\(messages.lobby)</h1>
      \(regions.place("spoken", "p", " hidden"))
      \(regions.place("newest", "ol", #" class="newest" data-empty="\#(messages.noCalls)""#))
      <h2 class="unseen">\(messages.lastCalls)</h2>
      \(regions.place("calls", "ol", #" class="calls""#))
      \(regions.place("counts"))
      <p class="chime"><button type="button" data-chime aria-pressed="false" data-on="\(messages.chimeOn)" \
      data-off="\(messages.chimeOff)" hidden>\(messages.chimeOn)</button></p>
      """
  }

  /// List item of a call.
  private func call(_ call: Call, _ frame: PageFrame) -> HTML {
    let again: HTML? = call.isRepeat ? #" <small class="again">\#(frame.messages.again)</small>"# : nil
    return """
      <li data-key="\(call.key)" class="\(frame.tint(call.service))"><b class="number">\(call.ticket)</b> \
      <span>\(frame.messages.phrases.service(call.service))\(frame.gradeBadge(call.priority))\(again)</span> \
      <span class="at">\(frame.messages.windowLabel(call.window, call.service))</span></li>
      """
  }

  /// The newest call as a sentence for screen readers.
  private func spoken(_ frame: PageFrame) -> HTML {
    guard let call = calls.first else { return "" }
    return "\(frame.messages.customer(call.ticket)), \(frame.messages.windowLabel(call.window, call.service))"
  }
}
