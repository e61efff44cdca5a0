// HTML of windows and services for an operator, and of the log of one worker.
// Invariant: a button that kills a worker sends window, generation and pid, so that it kills no other process.
import BankModel

extension WindowsPage {
  /// Title of the page.
  public func title(_ frame: PageFrame) -> String { frame.messages.windows }

  /// Changing regions of the page.
  public func parts(_ frame: PageFrame) -> [Region] {
    [
      .block("death", lastKill.map { killReport($0, frame) } ?? ""),
      .rows("services", services, key: \.service.text, row: { windowControls($0, frame) }),
      .rows("windows", windows, key: \.name, row: { row($0, frame) }),
    ]
  }

  /// Content of the page.
  public func body(_ frame: PageFrame, _ regions: [Region]) -> HTML {
    let messages = frame.messages
    /// A column heading.
    func head(_ text: String, _ cssClass: HTML = "") -> HTML {
      #"<th scope="col" class="\#(cssClass)">\#(text)</th>"#
    }
    return """
      \(frame.heading(messages.windows))
      \(regions.place("death", "div", #" class="death" aria-live="polite""#))
      <section class="card"><h2>\(messages.windowControls)</h2>\(regions.place("services", "ul", #" class="steering""#))</section>
      <section class="card"><div class="scroll-x"><table class="windows stack">
      <thead><tr>\(head(messages.window))\(head(messages.state))\(head(messages.ticket))\(head(messages.since))\(head(messages.pid, "n"))\
      \(head(messages.generationHeading, "n"))\(head(messages.served, "n"))\(head(messages.restarts, "n"))\(head(messages.memoryHeading, "n"))<th scope="col"><span class="unseen">\(messages.logAndActions)</span></th></tr></thead>
      \(regions.place("windows", "tbody", #" data-empty="\#(messages.noWindows)""#))
      </table></div></section>
      """
  }

  /// Banner about the last worker killed from a page, with the time until its customer was served again or its
  /// successor was ready.
  private func killReport(_ lastKill: KillOutcome, _ frame: PageFrame) -> HTML {
    let messages = frame.messages
    let place = "\(lastKill.window), \(messages.generation(lastKill.generation)), pid \(lastKill.pid)"
    let ended = messages.localized("\(place) was killed.", "\(place): 강제 종료했습니다.")
    /// Banner with a sentence and the measured time, if there is one; a time that is not exact is shown as an upper
    /// limit.
    func banner(_ cssClass: HTML, _ text: String, _ milliseconds: Int64? = nil, isExact: Bool = true) -> HTML
    {
      let figure: HTML? = milliseconds.map {
        #" <b class="large" data-healed="\#($0)">\#(isExact ? "" : "≤ ")\#(messages.count($0)) ms</b>"#
      }
      return #"<p class="banner \#(cssClass)">\#(text)\#(figure)</p>"#
    }
    switch lastKill.stage {
    case .ordered: return banner("bad", messages.localized("Killing \(place) …", "\(place): 강제 종료하는 중 …"))
    case .died(let ticket?):
      let waits = messages.localized(
        "\(messages.customer(ticket)) is not served yet …", "\(messages.customer(ticket)) 다시 대기중 …")
      return banner("bad", "\(ended) \(waits)")
    case .died(nil):
      return banner("bad", ended + messages.localized(" No successor yet …", " 다음 프로세스를 준비하는 중 …"))
    case .served(let ticket, let window, let milliseconds, let isExact):
      let after = messages.localized(
        "\(messages.customer(ticket)) was being served again at \(window) after",
        "\(messages.customer(ticket))의 업무가 \(window)에서 다시 시작될 때까지")
      return banner("good", "\(ended) \(after)", milliseconds, isExact: isExact)
    case .replaced(let generation, nil):
      let there = messages.localized(
        "It was replaced: \(messages.generation(generation)).",
        "\(messages.generation(generation)) 프로세스가 준비되었습니다.")
      return banner("good", "\(ended) \(there)")
    case .replaced(let generation, let milliseconds?):
      let ready = messages.localized(
        "It was idle; \(messages.generation(generation)) was ready after",
        "대기하던 고객은 없었습니다. \(messages.generation(generation)) 프로세스가 준비될 때까지")
      return banner("good", "\(ended) \(ready)", milliseconds)
    case .ended(let ticket):
      let gone = messages.localized(
        "\(messages.customer(ticket)) was not served again.",
        "\(messages.customer(ticket))의 업무가 다시 시작되지 않았습니다.")
      return banner("bad", "\(ended) \(gone)")
    }
  }

  /// List item of a service with the forms that change the number of its windows and pause the service.
  private func windowControls(_ service: ServiceRow, _ frame: PageFrame) -> HTML {
    let messages = frame.messages
    let name = messages.phrases.service(service.service)
    let fields = [(name: HTML("service"), value: service.service.text)]
    /// Form with the button that requests this number of windows.
    func scale(_ windows: Int64, _ label: String, _ sign: String) -> HTML {
      let off: HTML = windows < 0 ? " disabled" : frame.disabledAttribute
      return frame.form(
        "/windows/scale", fields + [("windows", "\(windows)")],
        """
        <button class="step" id="scale-\(service.service)\(sign)" aria-label="\(name): \(label)"\(off)>\(sign)</button>
        """)
    }
    let pause = frame.form(
      service.isPaused ? "/windows/resume" : "/windows/pause", fields,
      frame.button(
        service.isPaused ? messages.resume : messages.pause, service.isPaused ? "strong" : "",
        attributes:
          #" id="pause-\#(service.service)" aria-label="\#(name): \#(service.isPaused ? messages.resume : messages.pause)""#
      ))
    let paused: HTML? =
      service.isPaused
      ? #" <b class="badge paused">\#(messages.paused)</b> <small>\#(service.pauseReason ?? "")</small>"#
      : nil
    return """
      <li data-key="\(service.service)" class="\(frame.tint(service.service))"><span class="name"><b>\(name)</b>\(paused)</span>\
      <span>\(messages.waitingCount(service.waitingTotal))</span>\
      <div class="stepper">\(scale(service.windows &- 1, messages.oneFewerWindow, "−"))\
      <output aria-label="\(messages.windows)">\(service.windows)</output>\
      \(scale(service.windows &+ 1, messages.oneMoreWindow, "+"))</div>\(pause)</li>
      """
  }

  /// Table row of a window.
  private func row(_ window: WindowRow, _ frame: PageFrame) -> HTML {
    let messages = frame.messages
    /// A cell of the table of windows.
    func cell(_ name: String, _ value: HTML?, _ cssClass: HTML = "") -> HTML {
      frame.cell(name, value, cssClass)
    }
    let tickets = window.tickets.prefix(16).map {
      #"<a class="to" href="\#(frame.address(of: $0, day))">\#($0)</a> "# as HTML
    }
    let trouble: HTML? = window.trouble.map { #" <small class="alarm">\#($0)</small>"# }
    let state: HTML =
      window.isFailed
      ? #"<b class="badge alarm">\#(messages.localized("failed", "실패"))</b>\#(trouble)"#
      : #"<b class="badge \#(window.state.name)">\#(messages.phrases.state(window.state))</b>\#(trouble)"#
    let chaos: HTML? = frame.hasChaos ? kill(window, frame) : nil
    return """
      <tr data-key="\(window.name)" class="\(frame.tint(window.service))"><th scope="row">\(window.name)</th>\
      \(cell(messages.state, state))\(cell(messages.ticket, tickets.isEmpty ? nil : "\(tickets)"))\
      \(cell(messages.since, window.tickets.isEmpty ? nil : window.since.map(frame.elapsed)))\
      \(cell(messages.pid, window.pid.map { "\($0)" }, "n"))\(cell(messages.generationHeading, "\(window.generation)", "n"))\
      \(cell(messages.served, "\(messages.count(window.served))", "n"))\(cell(messages.restarts, "\(messages.count(window.restarts))", "n"))\
      \(cell(messages.memoryHeading, window.memoryBytes.map { "\(messages.memory($0))" }, "n"))\
      <td class="doing"><div class="row"><a class="button small" href="/windows/\(window.name)/log" \
      aria-label="\(window.name): \(messages.log)">\(messages.log)</a>\(chaos)</div></td></tr>
      """
  }

  /// Form that kills the worker of a window; nil if the window has no process or its service is unknown.
  private func kill(_ window: WindowRow, _ frame: PageFrame) -> HTML? {
    guard window.service != nil, let pid = window.pid else { return nil }
    return frame.form(
      "/windows/end",
      [("window", window.name), ("generation", "\(window.generation)"), ("pid", "\(pid)")],
      frame.button(
        frame.messages.end, "danger small",
        attributes:
          #" id="end-\#(window.name)" data-end="\#(window.name)" aria-label="\#(window.name): \#(frame.messages.end)""#
      ))
  }
}

extension WindowLogPage {
  /// Title of the page.
  public func title(_ frame: PageFrame) -> String { "\(frame.messages.log) \(name)" }

  /// Changing regions of the page.
  public func parts(_ frame: PageFrame) -> [Region] {
    [
      .rows(
        "log", lines, key: { "\($0.number)" },
        row: { line in
          let cssClass: HTML =
            switch line.level {
            case "error": "alarm"
            case "warn": "warn"
            default: ""
            }
          return #"<span data-key="\#(line.number)" class="\#(cssClass)">\#(line.text)\#("\n")</span>"#
        })
    ]
  }

  /// Content of the page.
  public func body(_ frame: PageFrame, _ regions: [Region]) -> HTML {
    """
    \(frame.heading(name, #"<a class="button" href="/windows">\#(frame.messages.phrases.close)</a>"#))
    \(regions.place("log", "pre", #" class="output log" tabindex="0" data-tail data-empty="\#(frame.messages.noLogLines)""#))
    """
  }
}

extension LogLine {
  /// Value of the field `level`; nil if there is none before the first quoted text of the line.
  var level: Substring? {
    let fields = text.prefix { $0 != "\"" }.split(separator: " ")
    return fields.first { $0.hasPrefix("level=") }?.dropFirst("level=".count)
  }
}

extension ServicesPage {
  /// Title of the page.
  public func title(_ frame: PageFrame) -> String { frame.messages.services }

  /// Changing regions of the page.
  public func parts(_ frame: PageFrame) -> [Region] {
    [
      .block("counts", frame.figures(counts)), .block("rates", frame.rates(rates)),
      .rows("services", services, key: \.service.text, row: { row($0, frame) }),
    ]
  }

  /// Content of the page.
  public func body(_ frame: PageFrame, _ regions: [Region]) -> HTML {
    """
    \(frame.heading(frame.messages.services, #"<a class="button" href="/windows">\#(frame.messages.windows)</a>"#))
    \(regions.place("counts"))
    \(regions.place("rates"))
    \(regions.place("services", "ul", #" class="services""#))
    """
  }

  /// List item of a service with its plot and its counters.
  private func row(_ service: ServiceRow, _ frame: PageFrame) -> HTML {
    let messages = frame.messages
    let name = messages.phrases.service(service.service)
    let grades = service.waiting.map { grade -> HTML in
      let text = grade.priority.map { messages.phrases.standing($0) } ?? messages.localized("others", "그 밖")
      return "<span>\(text) <b>\(messages.count(grade.count))</b></span> "
    }
    let paused: HTML? =
      service.isPaused
      ? #" <b class="badge paused">\#(messages.paused)</b> <small>\#(service.pauseReason ?? "")</small>"#
      : nil
    return """
      <li data-key="\(service.service)" class="card \(frame.tint(service.service))"><div class="heading"><h2>\(name)\(paused)</h2>\
      <b>\(messages.rate(service.servedTenMinutes))</b></div>\
      \(frame.plot(service.history, "\(name): \(messages.tenMinutes), \(messages.rate(service.servedTenMinutes))"))\
      <p class="grades">\(grades.isEmpty ? ["\(messages.noneWaiting)"] : grades)</p>\
      <dl class="figures small">\(frame.figure(messages.waiting, service.waitingTotal))\(frame.figure(messages.serving, service.serving))\
      \(frame.figure(messages.delayed, service.delayed))\(frame.figure(messages.dead, service.dead, service.dead > 0 ? "alarm" : ""))\
      \(frame.figure(messages.windows, service.windows))</dl></li>
      """
  }
}
