// HTML of windows and services for an operator, and of the log of one worker.
// Invariant: a button that kills a worker sends window, generation and pid, so it can never kill another process.
import BankModel

extension WindowsPage {
  /// Title of the page.
  public func title(_ frame: PageFrame) -> String { frame.words.windows }

  /// Changing regions of the page.
  public func parts(_ frame: PageFrame) -> [Region] {
    [
      .block("death", death.map { told($0, frame) } ?? ""),
      .rows("services", services, key: \.service.text, row: { steering($0, frame) }),
      .rows("windows", windows, key: \.name, row: { row($0, frame) }),
    ]
  }

  /// Content of the page.
  public func body(_ frame: PageFrame, _ regions: [Region]) -> HTML {
    let words = frame.words
    func head(_ text: String, _ look: HTML = "") -> HTML {
      #"<th scope="col" class="\#(look)">\#(text)</th>"#
    }
    return """
      \(frame.heading(words.windows))
      \(regions.place("death", "div", #" class="death" aria-live="polite""#))
      <section class="card"><h2>\(words.steering)</h2>\(regions.place("services", "ul", #" class="steering""#))</section>
      <section class="card"><div class="scroll-x"><table class="windows stack">
      <thead><tr>\(head(words.window))\(head(words.state))\(head(words.ticket))\(head(words.since))\(head(words.pid, "n"))\
      \(head(words.generationHeading, "n"))\(head(words.served, "n"))\(head(words.restarts, "n"))\(head(words.memoryHeading, "n"))<th scope="col"><span class="unseen">\(words.doing)</span></th></tr></thead>
      \(regions.place("windows", "tbody", #" data-empty="\#(words.noWindows)""#))
      </table></div></section>
      """
  }

  private func told(_ death: WindowDeath, _ frame: PageFrame) -> HTML {
    let words = frame.words
    let place = "\(death.window), \(words.generation(death.generation)), pid \(death.pid)"
    let ended = words.say("\(place) was killed.", "\(place): 강제 종료했습니다.")
    func banner(_ look: HTML, _ text: String, _ milliseconds: Int64? = nil, isExact: Bool = true) -> HTML {
      let figure: HTML? = milliseconds.map {
        #" <b class="large" data-healed="\#($0)">\#(isExact ? "" : "≤ ")\#(words.count($0)) ms</b>"#
      }
      return #"<p class="banner \#(look)">\#(text)\#(figure)</p>"#
    }
    switch death.stage {
    case .ordered: return banner("bad", words.say("Killing \(place) …", "\(place): 강제 종료하는 중 …"))
    case .died(let ticket?):
      let waits = words.say(
        "\(words.customer(ticket)) is not served yet …", "\(words.customer(ticket)) 다시 대기중 …")
      return banner("bad", "\(ended) \(waits)")
    case .died(nil):
      return banner("bad", ended + words.say(" No successor yet …", " 다음 프로세스를 준비하는 중 …"))
    case .served(let ticket, let window, let milliseconds, let isExact):
      let after = words.say(
        "\(words.customer(ticket)) was being served again at \(window) after",
        "\(words.customer(ticket))의 업무가 \(window)에서 다시 시작될 때까지")
      return banner("good", "\(ended) \(after)", milliseconds, isExact: isExact)
    case .succeeded(let generation, nil):
      let there = words.say(
        "It was replaced: \(words.generation(generation)).",
        "\(words.generation(generation)) 프로세스가 준비되었습니다.")
      return banner("good", "\(ended) \(there)")
    case .succeeded(let generation, let milliseconds?):
      let ready = words.say(
        "It was idle; \(words.generation(generation)) was ready after",
        "대기하던 고객은 없었습니다. \(words.generation(generation)) 프로세스가 준비될 때까지")
      return banner("good", "\(ended) \(ready)", milliseconds)
    case .ended(let ticket):
      let gone = words.say(
        "\(words.customer(ticket)) was not served again.", "\(words.customer(ticket))의 업무가 다시 시작되지 않았습니다.")
      return banner("bad", "\(ended) \(gone)")
    }
  }

  private func steering(_ service: ServiceRow, _ frame: PageFrame) -> HTML {
    let words = frame.words
    let name = words.phrases.service(service.service)
    let fields = [(name: HTML("service"), value: service.service.text)]
    func scale(_ windows: Int64, _ label: String, _ sign: String) -> HTML {
      let off: HTML = windows < 0 ? " disabled" : frame.locked
      return frame.form(
        "/windows/scale", fields + [("windows", "\(windows)")],
        """
        <button class="step" id="scale-\(service.service)\(sign)" aria-label="\(name): \(label)"\(off)>\(sign)</button>
        """)
    }
    let pause = frame.form(
      service.isPaused ? "/windows/resume" : "/windows/pause", fields,
      frame.button(
        service.isPaused ? words.resume : words.pause, service.isPaused ? "strong" : "",
        attributes:
          #" id="pause-\#(service.service)" aria-label="\#(name): \#(service.isPaused ? words.resume : words.pause)""#
      ))
    let paused: HTML? =
      service.isPaused
      ? #" <b class="badge paused">\#(words.paused)</b> <small>\#(service.pauseReason ?? "")</small>"# : nil
    return """
      <li data-key="\(service.service)" class="\(frame.tint(service.service))"><span class="name"><b>\(name)</b>\(paused)</span>\
      <span>\(words.whoWaits(service.waitingTotal))</span>\
      <div class="stepper">\(scale(service.windows &- 1, words.oneFewerWindow, "−"))\
      <output aria-label="\(words.windows)">\(service.windows)</output>\
      \(scale(service.windows &+ 1, words.oneMoreWindow, "+"))</div>\(pause)</li>
      """
  }

  private func row(_ window: WindowRow, _ frame: PageFrame) -> HTML {
    let words = frame.words
    func cell(_ name: String, _ value: HTML?, _ look: HTML = "") -> HTML { frame.cell(name, value, look) }
    let tickets = window.tickets.prefix(16).map {
      #"<a class="to" href="\#(frame.address(of: $0, day))">\#($0)</a> "# as HTML
    }
    let trouble: HTML? = window.trouble.map { #" <small class="alarm">\#($0)</small>"# }
    let state: HTML =
      window.isFailed
      ? #"<b class="badge alarm">\#(words.say("failed", "실패"))</b>\#(trouble)"#
      : #"<b class="badge \#(window.state.name)">\#(words.phrases.state(window.state))</b>\#(trouble)"#
    let chaos: HTML? = frame.hasChaos ? kill(window, frame) : nil
    return """
      <tr data-key="\(window.name)" class="\(frame.tint(window.service))"><th scope="row">\(window.name)</th>\
      \(cell(words.state, state))\(cell(words.ticket, tickets.isEmpty ? nil : "\(tickets)"))\
      \(cell(words.since, window.tickets.isEmpty ? nil : window.since.map(frame.elapsed)))\
      \(cell(words.pid, window.pid.map { "\($0)" }, "n"))\(cell(words.generationHeading, "\(window.generation)", "n"))\
      \(cell(words.served, "\(words.count(window.served))", "n"))\(cell(words.restarts, "\(words.count(window.restarts))", "n"))\
      \(cell(words.memoryHeading, window.memoryBytes.map { "\(words.memory($0))" }, "n"))\
      <td class="doing"><div class="row"><a class="button small" href="/windows/\(window.name)/log" \
      aria-label="\(window.name): \(words.log)">\(words.log)</a>\(chaos)</div></td></tr>
      """
  }

  private func kill(_ window: WindowRow, _ frame: PageFrame) -> HTML? {
    guard window.service != nil, let pid = window.pid else { return nil }
    return frame.form(
      "/windows/end",
      [("window", window.name), ("generation", "\(window.generation)"), ("pid", "\(pid)")],
      frame.button(
        frame.words.end, "danger small",
        attributes:
          #" id="end-\#(window.name)" data-end="\#(window.name)" aria-label="\#(window.name): \#(frame.words.end)""#
      ))
  }
}

extension WindowLogPage {
  /// Title of the page.
  public func title(_ frame: PageFrame) -> String { "\(frame.words.log) \(name)" }

  /// Changing regions of the page.
  public func parts(_ frame: PageFrame) -> [Region] {
    [
      .rows(
        "log", lines, key: { "\($0.number)" },
        row: { line in
          let look: HTML =
            switch line.level {
            case "error": "alarm"
            case "warn": "warn"
            default: ""
            }
          return #"<span data-key="\#(line.number)" class="\#(look)">\#(line.text)\#("\n")</span>"#
        })
    ]
  }

  /// Content of the page.
  public func body(_ frame: PageFrame, _ regions: [Region]) -> HTML {
    """
    \(frame.heading(name, #"<a class="button" href="/windows">\#(frame.words.phrases.close)</a>"#))
    \(regions.place("log", "pre", #" class="output log" tabindex="0" data-tail data-empty="\#(frame.words.noLogLines)""#))
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
  public func title(_ frame: PageFrame) -> String { frame.words.services }

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
    \(frame.heading(frame.words.services, #"<a class="button" href="/windows">\#(frame.words.windows)</a>"#))
    \(regions.place("counts"))
    \(regions.place("rates"))
    \(regions.place("services", "ul", #" class="services""#))
    """
  }

  private func row(_ service: ServiceRow, _ frame: PageFrame) -> HTML {
    let words = frame.words
    let name = words.phrases.service(service.service)
    let grades = service.waiting.map { grade -> HTML in
      let text = grade.priority.map { words.phrases.standing($0) } ?? words.say("others", "그 밖")
      return "<span>\(text) <b>\(words.count(grade.count))</b></span> "
    }
    let paused: HTML? =
      service.isPaused
      ? #" <b class="badge paused">\#(words.paused)</b> <small>\#(service.pauseReason ?? "")</small>"# : nil
    return """
      <li data-key="\(service.service)" class="card \(frame.tint(service.service))"><div class="heading"><h2>\(name)\(paused)</h2>\
      <b>\(words.rate(service.servedTenMinutes))</b></div>\
      \(frame.plot(service.history, "\(name): \(words.tenMinutes), \(words.rate(service.servedTenMinutes))"))\
      <p class="grades">\(grades.isEmpty ? ["\(words.nobodyWaits)"] : grades)</p>\
      <dl class="figures small">\(frame.figure(words.waiting, service.waitingTotal))\(frame.figure(words.serving, service.serving))\
      \(frame.figure(words.delayed, service.delayed))\(frame.figure(words.dead, service.dead, service.dead > 0 ? "alarm" : ""))\
      \(frame.figure(words.windows, service.windows))</dl></li>
      """
  }
}
