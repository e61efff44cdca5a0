// Texts about one customer,
// its attempts and its receipt.
import Arguments
import BankModel
import Posix
import Wire

extension MessageCatalog {
  /// A customer by ticket number: `Customer 7`.
  func customer(_ number: Int64) -> String { say("Customer \(number)", "\(number)번 고객") }
  /// An account by its number: `account 12`.
  func account(_ number: Int64) -> String { say("account \(number)", "계좌 \(number)") }
  /// State of a waiting customer: position in line and estimated time.
  func waitingAt(_ position: Int64?, eta: String?) -> String {
    let place = position.map { say(", number \(Self.grouped($0)) in line", ", \(Self.grouped($0))번째") } ?? ""
    let time = eta.map { say(", about \($0) to go", ", 약 \($0) 뒤") } ?? ""
    return state(CustomerState.waiting) + place + time
  }

  /// Payload of a customer: its length, and its start if it is UTF-8.
  func payloadLine(_ payload: [UInt8]) -> String {
    let count = Self.grouped(payload.count)
    let text = payload.isEmpty ? nil : String(validating: payload, as: UTF8.self)
    return say(
      "payload: \(count) \(payload.count == 1 ? "byte" : "bytes")\(text.map { ": " + quoted($0) } ?? "")",
      "페이로드 \(count)바이트\(text.map { ": " + quoted($0) } ?? "")")
  }

  /// State of a delayed customer, with the due time.
  /// - Parameter isOrdered: True if the order contained this due time and no attempt was made yet.
  func delayedUntil(_ instant: String?, isOrdered: Bool) -> String {
    guard let instant else { return state(CustomerState.delayed) }
    return state(CustomerState.delayed)
      + (isOrdered ? ", " + until(instant) : say(", next attempt at \(instant)", ", 다음 시도는 \(instant)"))
  }

  /// A due time: `until 2026-11-27T08:43:06Z`.
  func until(_ instant: String) -> String { say("until \(instant)", "\(instant)까지") }

  /// State of a customer that is served, with the window.
  func servedAt(_ window: String?) -> String {
    state(CustomerState.serving) + (window.map { say(" at \($0)", ", \($0)") } ?? "")
  }

  /// Progress of a customer's work: `40 %, shrinking`.
  func progress(_ progress: WorkProgress) -> String {
    [progress.percent.map { "\($0)%" }, progress.text.isEmpty ? nil : safe(progress.text)].compactMap { $0 }
      .joined(separator: ", ")
  }

  /// State of a dead letter, with the commands that end it.
  func deadLetter(_ number: Int64) -> String {
    say(
      "dead letter; retry with 'bankctl requeue \(number)' or drop with 'bankctl cancel \(number)'",
      "보류: \(KoreanParticle.or.on("'bankctl requeue \(number)'")) \(KoreanParticle.object.on("'bankctl cancel \(number)'")) 실행하세요"
    )
  }

  /// Text about the start of an attempt: window and process.
  func attemptBegan(_ attempt: AttemptReport) -> String {
    let branch = attempt.branch.map { ", " + self.branch($0) } ?? ""
    let teller =
      "\(attempt.window), \(generation(Int64(attempt.generation))), pid \(attempt.pid)" + branch
    return say("started at \(teller)", "업무 시작: \(teller)")
  }

  /// End of an attempt. If its worker died or hung, the text says that the customer returned to its line.
  func attemptEnded(_ end: AttemptEnd) -> String { phrases.attemptEnded(end) }

  /// End of an attempt after which the customer does not return to its line, or may not have returned.
  func attemptFailed(_ end: AttemptEnd) -> String { phrases.attemptFailed(end) }

  /// Text: a customer became a dead letter.
  /// - Parameter reason: End of the last attempt.
  func becameDead(attempts: Int, _ reason: String) -> String {
    say(
      "became a dead letter after \(attempts) \(attempts == 1 ? "attempt" : "attempts") (last: \(reason))",
      "\(attempts)번 시도한 뒤 보류됨: 마지막 시도에서 \(reason)")
  }

  /// Number of attempts that count for the limit of the service.
  func counted(_ attempts: Int32) -> String {
    say(
      "\(attempts) \(attempts == 1 ? "attempt" : "attempts") counted towards max_attempts",
      "max_attempts로 세는 시도 \(attempts)번")
  }

  /// Business of a customer: an amount of money, or the ordered article.
  func business(_ service: ServiceName, _ amount: Int64, _ itemName: String?) -> String {
    amount > 0 ? won(amount) : itemName.map { service == .juice ? juice($0) : safe($0) } ?? "-"
  }

  /// An exit code: `exit code 65`.
  func exitCode(_ code: Int32) -> String { phrases.exitCode(code) }

  /// Reason for a dead letter, in a list: `exit code 65: cannot read the snapshot`.
  func reason(_ ticket: TicketReport) -> String? {
    guard ticket.state == .dead, let last = ticket.attempts.last else { return nil }
    let reason = phrases.reason(last.end, signal: last.signal.map(Signals.name), code: last.code)
    let line = last.messageDetail?.split(whereSeparator: \.isNewline).last.map { safe(String($0)) }
    return [reason, line].compactMap(\.self).joined(separator: ": ")
  }

  /// Text of a receipt: outcome, transfer, missing ingredients, branch.
  func receipt(_ receipt: ReceiptReport) -> String {
    let transfer =
      if let debit = receipt.debit, let credit = receipt.credit { ", \(debit) → \(credit)" } else { "" }
    let missing = (receipt.shortages ?? []).map { ", \(item($0.item.name)) \($0.available)/\($0.needed)" }
      .joined()
    let branch = receipt.branch.map { ", " + self.branch($0) } ?? ""
    return say("receipt: ", "영수증: ") + outcome(receipt.outcome) + transfer + missing + branch
  }

  func cancelled(_ number: Int64) -> String {
    say("Customer \(number) cancelled.", "\(number)번 고객을 취소했습니다.")
  }

  /// Sentence: one dead letter returned to its line.
  func requeued(ticket number: Int64) -> String {
    say("Customer \(number) requeued.", "\(number)번 고객을 다시 줄 세웠습니다.")
  }

  /// Sentence: this number of dead letters returned to their lines.
  func requeued(_ count: Int64) -> String {
    count == 0
      ? say("There were no dead letters.", "보류된 고객이 없었습니다.")
      : say("\(Self.grouped(count)) requeued.", "\(Self.grouped(count))명을 다시 줄 세웠습니다.")
  }
}
