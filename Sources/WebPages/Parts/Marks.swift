// Owns the small marks that several pages have: a ticket, a grade, a moment, a number with its name, a state.
// Invariant: nothing is told by its colour alone.
import BankModel

extension PageFrame {
  /// `7 - 예금`, which leads to the ticket of its day.
  func ticketLink(
    _ ticket: TicketNumber, of day: BusinessDay, _ service: ServiceName, _ priority: Priority
  ) -> HTML {
    """
    <a href="\(address(of: ticket, day))">\(ticket) - \(words.phrases.service(service))</a>\(gradeMark(priority))
    """
  }

  /// The address of a ticket, whose number means nothing without its day.
  func address(of ticket: TicketNumber, _ day: BusinessDay) -> HTML { "/ticket/\(ticket)?day=\(day)" }

  /// A grade where there is one to speak of.
  func gradeMark(_ priority: Priority) -> HTML? {
    guard priority != .regular else { return nil }
    return #" <b class="grade">\#(words.phrases.standing(priority))</b>"#
  }

  /// The colour of a service, as a class.
  func tint(_ service: ServiceName?) -> HTML {
    switch service {
    case .deposit: "deposit"
    case .loan: "loan"
    case .juice: "juice"
    default: "other"
    }
  }

  /// The same as a part of a tag; nothing for what looks as everything does, because a list of it is long.
  func tintMark(_ service: ServiceName) -> HTML? {
    let name = tint(service)
    return name == "deposit" || name == "other" ? nil : #" class="\#(name)""#
  }

  /// A moment, in milliseconds since 1970: the time of day, with its date where a mouse rests.
  func moment(_ milliseconds: Int64) -> HTML {
    let stamp = Stamp(milliseconds)
    return #"<time datetime="\#(stamp.full)" title="\#(stamp.full)">\#(stamp.time)</time>"#
  }

  /// A moment with its date.
  func date(_ milliseconds: Int64) -> HTML {
    let stamp = Stamp(milliseconds)
    return #"<time datetime="\#(stamp.full)">\#(stamp.day) \#(stamp.time)</time>"#
  }

  /// How long ago a moment is: the script counts on from it, and without one the moment itself stands there.
  func elapsed(since milliseconds: Int64) -> HTML {
    let stamp = Stamp(milliseconds)
    return
      #"<time class="since" data-since="\#(milliseconds)" datetime="\#(stamp.full)">\#(stamp.time)</time>"#
  }

  /// A text of a customer or of a command. A gap says how much of the whole it leaves out.
  func text(_ text: ShownText) -> HTML {
    guard text.hidden > 0 else { return "<pre>\(text.first)</pre>" }
    let gap = words.leftOut(text.hidden, of: text.length)
    let last: HTML? = text.last.isEmpty ? nil : "<pre>\(text.last)</pre>"
    return #"<pre>\#(text.first)</pre><p class="quiet">\#(gap)</p>\#(last)"#
  }

  /// A number with its name, one of a row of them.
  func figure(_ name: String, _ number: String, _ look: HTML = "") -> HTML {
    #"<div class="figure \#(look)"><dt>\#(name)</dt><dd>\#(number)</dd></div>"#
  }

  /// A number with its name.
  func figure(_ name: String, _ number: Int64, _ look: HTML = "") -> HTML {
    figure(name, words.count(number), look)
  }

  /// The numbers of a day.
  func figures(_ counts: BranchCounts) -> HTML {
    let dead: HTML = counts.dead > 0 ? "alarm" : ""
    return """
      <dl class="figures">\(figure(words.issued, counts.issued))\(figure(words.waiting, counts.waiting, "green"))\
      \(figure(words.serving, counts.serving, "indigo"))\(figure(words.served, counts.served))\
      \(figure(words.delayed, counts.delayed))\(figure(words.dead, counts.dead, dead))\
      \(figure(words.cancelled, counts.cancelled))</dl>
      """
  }

  /// How fast customers are served.
  func rates(_ rates: BranchRates) -> HTML {
    """
    <p class="rates"><span>\(words.ratesHeading)</span> \
    <span><b>\(words.pace(rates.servedSecond))</b> <small>\(words.overSecond)</small></span> \
    <span><b>\(words.pace(rates.servedTenSeconds))</b> <small>\(words.overTenSeconds)</small></span> \
    <span><b>\(words.pace(rates.servedTenMinutes))</b> <small>\(words.overTenMinutes)</small></span></p>
    """
  }

  func progressBar(_ percent: Int64?, _ text: String?) -> HTML? {
    guard percent != nil || text?.isEmpty == false else { return nil }
    let bar: HTML? = percent.map {
      let value = min(max($0, 0), 100)
      return
        #"<progress max="100" value="\#(value)" aria-label="\#(words.progress)">\#(value) %</progress> \#(value) % "#
    }
    return #"<span class="progress">\#(bar)\#(text ?? "")</span>"#
  }

  /// A heading with what belongs beside it.
  func heading(_ text: String, _ beside: HTML? = nil) -> HTML {
    #"<div class="heading"><h1>\#(text)</h1>\#(beside)</div>"#
  }

  /// A small plot of numbers, oldest first, with what it says in words.
  func plot(_ values: [Int64], _ label: String) -> HTML {
    let shown = Array(values.suffix(120))
    let top = max(shown.max() ?? 0, 1)
    // A number may be anything that a socket told; 60 high is a part of the highest.
    let points = shown.enumerated().map { offset, value in
      let height = Int64((Double(max(value, 0)) / Double(top) * 56).rounded())
      return "\(offset * 4),\(60 - height)"
    }
    let width = max(shown.count - 1, 1) * 4
    let area = points.isEmpty ? "" : "0,60 " + points.joined(separator: " ") + " \(width),60"
    return """
      <svg class="plot" viewBox="0 0 \(width) 61" preserveAspectRatio="none" role="img" aria-label="\(label)">\
      <polygon points="\(area)"/><polyline points="\(points.joined(separator: " "))"/></svg>
      """
  }
}

/// A moment as text, in UTC.
struct Stamp {
  /// `2026-03-01`, and `03:15:51.592`.
  let day, time: String

  /// - Parameter milliseconds: since 1970; the first or the last moment of the calendar for what is outside of it.
  init(_ milliseconds: Int64) {
    let (perDay, bounds) = (Int64(86_400_000), StockLimits.days)
    let instant = min(max(milliseconds, 0), (bounds.upperBound + 1) * perDay - 1)
    day = CalendarDate(instant / perDay).dashed
    let rest = instant % perDay
    let (hours, minutes) = (String(rest / 3_600_000, digits: 2), String(rest / 60_000 % 60, digits: 2))
    time = "\(hours):\(minutes):\(String(rest / 1000 % 60, digits: 2)).\(String(rest % 1000, digits: 3))"
  }

  /// `2026-03-01T03:15:51.592Z`.
  var full: String { "\(day)T\(time)Z" }
}
