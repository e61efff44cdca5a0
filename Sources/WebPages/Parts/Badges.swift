// Small elements of several pages: ticket, grade, time, number with its name, state.
// Invariant: no information is shown by colour alone.
import BankModel

extension PageFrame {
  /// Link to the page of a ticket, such as `7 - 예금`, followed by the mark of its grade.
  func ticketLink(
    _ ticket: TicketNumber, of day: BusinessDay, _ service: ServiceName, _ priority: Priority
  ) -> HTML {
    """
    <a href="\(address(of: ticket, day))">\(ticket) - \(messages.phrases.service(service))</a>\(gradeBadge(priority))
    """
  }

  /// Address of a ticket's page. It contains the day, because a ticket number is unique only within a day.
  func address(of ticket: TicketNumber, _ day: BusinessDay) -> HTML { "/ticket/\(ticket)?day=\(day)" }

  /// Mark with the grade or the number of a priority; nil for `regular`.
  func gradeBadge(_ priority: Priority) -> HTML? {
    guard priority != .regular else { return nil }
    return #" <b class="grade">\#(messages.phrases.standing(priority))</b>"#
  }

  /// CSS class for the colour of a service.
  func tint(_ service: ServiceName?) -> HTML {
    switch service {
    case .deposit: "deposit"
    case .loan: "loan"
    case .juice: "juice"
    default: "other"
    }
  }

  /// The class attribute for the colour; nil for deposits and for services without a colour of their own, to keep long
  /// lists short.
  func tintAttribute(_ service: ServiceName) -> HTML? {
    let name = tint(service)
    return name == "deposit" || name == "other" ? nil : #" class="\#(name)""#
  }

  /// A time, in milliseconds since 1970: the time of day, with the date as a tooltip.
  func moment(_ milliseconds: Int64) -> HTML {
    let stamp = TimestampText(milliseconds)
    return #"<time datetime="\#(stamp.full)" title="\#(stamp.full)">\#(stamp.time)</time>"#
  }

  /// A time, in milliseconds since 1970, with its date.
  func date(_ milliseconds: Int64) -> HTML {
    let stamp = TimestampText(milliseconds)
    return #"<time datetime="\#(stamp.full)">\#(stamp.day) \#(stamp.time)</time>"#
  }

  /// Elapsed time since a time, kept up to date by the script. Without scripts the time itself is shown.
  func elapsed(since milliseconds: Int64) -> HTML {
    let stamp = TimestampText(milliseconds)
    return
      #"<time class="since" data-since="\#(milliseconds)" datetime="\#(stamp.full)">\#(stamp.time)</time>"#
  }

  /// Text of a customer or a command. The number of omitted bytes is shown at the gap.
  func text(_ text: AbridgedText) -> HTML {
    guard text.omittedBytes > 0 else { return "<pre>\(text.first)</pre>" }
    let gap = messages.omission(text.omittedBytes, of: text.length)
    let last: HTML? = text.last.isEmpty ? nil : "<pre>\(text.last)</pre>"
    return #"<pre>\#(text.first)</pre><p class="quiet">\#(gap)</p>\#(last)"#
  }

  /// One number of a row of numbers, with its name.
  func figure(_ name: String, _ number: String, _ cssClass: HTML = "") -> HTML {
    #"<div class="figure \#(cssClass)"><dt>\#(name)</dt><dd>\#(number)</dd></div>"#
  }

  /// One number of a row of numbers, with its name and with commas.
  func figure(_ name: String, _ number: Int64, _ cssClass: HTML = "") -> HTML {
    figure(name, messages.count(number), cssClass)
  }

  /// The counters of a day.
  func figures(_ counts: BankCounts) -> HTML {
    let dead: HTML = counts.dead > 0 ? "alarm" : ""
    return """
      <dl class="figures">\(figure(messages.issued, counts.issued))\(figure(messages.waiting, counts.waiting, "green"))\
      \(figure(messages.serving, counts.serving, "indigo"))\(figure(messages.served, counts.served))\
      \(figure(messages.delayed, counts.delayed))\(figure(messages.dead, counts.dead, dead))\
      \(figure(messages.cancelled, counts.cancelled))</dl>
      """
  }

  /// Rates of served customers over a second, ten seconds and ten minutes.
  func rates(_ rates: BankRates) -> HTML {
    """
    <p class="rates"><span>\(messages.ratesHeading)</span> \
    <span><b>\(messages.rateNumber(rates.servedSecond))</b> <small>\(messages.overSecond)</small></span> \
    <span><b>\(messages.rateNumber(rates.servedTenSeconds))</b> <small>\(messages.overTenSeconds)</small></span> \
    <span><b>\(messages.rateNumber(rates.servedTenMinutes))</b> <small>\(messages.overTenMinutes)</small></span></p>
    """
  }

  /// Progress of the work as a bar and as the text of the worker; nil if both are missing.
  func progressBar(_ percent: Int64?, _ text: String?) -> HTML? {
    guard percent != nil || text?.isEmpty == false else { return nil }
    let bar: HTML? = percent.map {
      let value = min(max($0, 0), 100)
      return
        #"<progress max="100" value="\#(value)" aria-label="\#(messages.progress)">\#(value)%</progress> \#(value)% "#
    }
    return #"<span class="progress">\#(bar)\#(text ?? "")</span>"#
  }

  /// The heading of a page, with an element beside it.
  func heading(_ text: String, _ beside: HTML? = nil) -> HTML {
    #"<div class="heading"><h1>\#(text)</h1>\#(beside)</div>"#
  }

  /// A small plot of the last numbers, oldest first, with a text alternative.
  func plot(_ values: [Int64], _ label: String) -> HTML {
    let shown = Array(values.suffix(120))
    let top = max(shown.max() ?? 0, 1)
    // A peer may send any number: negative ones count as 0.
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

/// Date and time of day of a point in time as text, in UTC.
struct TimestampText {
  /// Date and time of day: `2026-03-01` and `03:15:51.592`.
  let day, time: String

  /// - Parameter milliseconds: since 1970; clamped to the range of the calendar.
  init(_ milliseconds: Int64) {
    let (perDay, bounds) = (Int64(86_400_000), StockLimits.days)
    let instant = min(max(milliseconds, 0), (bounds.upperBound + 1) * perDay - 1)
    day = CalendarDate(instant / perDay).dashed
    let rest = instant % perDay
    let (hours, minutes) = (String(rest / 3_600_000, digits: 2), String(rest / 60_000 % 60, digits: 2))
    time = "\(hours):\(minutes):\(String(rest / 1000 % 60, digits: 2)).\(String(rest % 1000, digits: 3))"
  }

  /// Date and time in the format of RFC 3339: `2026-03-01T03:15:51.592Z`.
  var full: String { "\(day)T\(time)Z" }
}
