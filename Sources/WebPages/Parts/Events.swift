// HTML of events.
// Invariant: the exit of a process shows pid and signal if they are known, and a customer who is served again shows the
// number of the attempt.
import BankModel

extension PageFrame {
  /// List item of one event, in the list of recent events.
  func event(_ event: EventRow) -> HTML {
    let cssClass: HTML =
      switch event.kind {
      case .died, .dead, .failed: "alarm"
      case .started where (event.attempt ?? 1) > 1: "again"
      case .served: "good"
      default: ""
      }
    return """
      <li data-key="\(event.sequence)" class="\(cssClass)">\(moment(event.time)) <span>\(sentence(event))</span></li>
      """
  }

  /// Description of an event.
  private func sentence(_ event: EventRow) -> HTML {
    let messages = messages
    let who: HTML? = event.ticket.map { ticket in
      guard let last = event.lastTicket, last > ticket else {
        return #"<a href="\#(address(of: ticket, event.day))">\#(messages.customer(ticket))</a>"#
      }
      return "\(messages.localized("Tickets \(ticket)–\(last)", "\(ticket)–\(last)번 고객"))"
    }
    let what: HTML? = event.service.map { " · \(messages.phrases.service($0))" }
    let place: HTML? = event.window.map { " · \($0)" }
    let process: HTML? = event.pid.map { ", pid \($0)" }
    let attempt: HTML? = event.attempt.flatMap { $0 > 1 ? " · <b>\(messages.attempt($0))</b>" : nil }
    switch event.kind {
    case .died:
      let signal: HTML? = event.signal.map { " (<b>\($0)</b>)" }
      let end = messages.phrases.attemptFailed(.killed)
      return "\(event.window ?? "")\(process): \(end)\(signal)\(who.map { " · \($0)" })"
    case .reset: return "\(messages.reset)"
    default: return "\(who) <b>\(verb(event.kind))</b>\(what)\(place)\(process)\(attempt)"
    }
  }

  /// Short text of a kind of event.
  private func verb(_ kind: EventRow.Kind) -> String {
    switch kind {
    case .issued: messages.localized("issued", "발급")
    case .started: messages.localized("started", "업무 시작")
    case .served: messages.localized("served", "업무 완료")
    case .cancelled: messages.localized("cancelled", "취소")
    case .dead: messages.localized("dead letter", "보류")
    case .failed: messages.phrases.attemptFailed(.failed)
    case .deferred: messages.phrases.attemptFailed(.deferred)
    case .died: messages.phrases.attemptFailed(.killed)
    case .reset: messages.reset
    }
  }
}
