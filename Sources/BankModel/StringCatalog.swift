// Sentences of the domain, such as the lines of tellers and the closing message.
// Their Korean texts are those of the original app.

import Time

/// A language of messages.
public enum Language: UInt8, Sendable, Codable, CaseIterable {
  case korean = 1
  case english = 2

  /// Code in options and configuration: `ko`, `en`.
  public var code: String { self == .korean ? "ko" : "en" }

  /// The language with this code, or nil.
  public init?(code: some StringProtocol) {
    guard let match = Self.allCases.first(where: { $0.code == code }) else { return nil }
    self = match
  }

  /// The language of a POSIX locale name such as `ko_KR.UTF-8`: Korean for `ko*`, else English.
  public init(locale: some StringProtocol) { self = locale.hasPrefix("ko") ? .korean : .english }
}

/// Sentences and words for users, in one language.
public struct StringCatalog: Sendable {
  /// Language of these sentences.
  public let language: Language

  public init(_ language: Language) { self.language = language }

  /// Returns the text in the language of the catalog.
  func localized(_ korean: String, _ english: String) -> String { language == .korean ? korean : english }

  /// Name of a service for people: `예금`, `대출`, `쥬스`. In English, and for any other service, the name itself.
  public func service(_ service: ServiceName) -> String {
    switch service {
    case .deposit: localized("예금", service.text)
    case .loan: localized("대출", service.text)
    case .juice: localized("쥬스", service.text)
    default: service.text
    }
  }

  /// Grade on a ticket: `VVIP`, `VIP`; nil for any other priority.
  public func grade(_ priority: Priority) -> String? {
    switch priority {
    case .vvip: "VVIP"
    case .vip: "VIP"
    default: nil
    }
  }

  /// Line for a started attempt: `3번 고객 대출업무 시작`; for a VIP, `4번 VIP고객 예금업무 시작`.
  public func started(ticket: TicketNumber, priority: Priority, service: ServiceName) -> String {
    line(ticket, started(priority: priority, service: service))
  }

  /// Line for finished work: `3번 고객 대출업무 완료`.
  public func completed(ticket: TicketNumber, priority: Priority, service: ServiceName) -> String {
    line(ticket, completed(priority: priority, service: service))
  }

  /// Text before and after the ticket number in ``started(ticket:priority:service:)``, for a caller that formats many
  /// lines.
  public func started(priority: Priority, service: ServiceName) -> (before: String, after: String) {
    lineParts(priority, service, korean: "시작", english: "started")
  }

  /// Text before and after the ticket number in ``completed(ticket:priority:service:)``.
  public func completed(priority: Priority, service: ServiceName) -> (before: String, after: String) {
    lineParts(priority, service, korean: "완료", english: "completed")
  }

  private func line(_ ticket: TicketNumber, _ words: (before: String, after: String)) -> String {
    "\(words.before)\(ticket)\(words.after)"
  }

  /// Text before and after the ticket number in a line of a teller. It ends with `korean` or `english`.
  private func lineParts(
    _ priority: Priority, _ service: ServiceName, korean: String, english: String
  ) -> (before: String, after: String) {
    switch language {
    case .korean: ("", "번 \(self.grade(priority) ?? "")고객 \(self.service(service))업무 \(korean)")
    case .english:
      ("\(self.grade(priority).map { $0 + " " } ?? "")customer ", ": \(self.service(service)) \(english)")
    }
  }

  /// Message at the end of a business day. The business time is in seconds with two decimals.
  public func closing(served: Int64, business: TimeSpan) -> String {
    let seconds = Self.seconds(business)
    return localized(
      "업무가 마감되었습니다. 오늘 업무를 처리한 고객은 총 \(served)명이며, 총 업무시간은 \(seconds)초입니다.",
      "The bank has closed. Customers served today: \(served). Total business time: \(seconds) seconds.")
  }

  /// Seconds with two decimals, rounded half up: `4.41`.
  public static func seconds(_ span: TimeSpan) -> String {
    let hundredths = span.nanoseconds / 10_000_000 + (span.nanoseconds % 10_000_000 >= 5_000_000 ? 1 : 0)
    let fraction = hundredths % 100
    return "\(hundredths / 100).\(fraction < 10 ? "0" : "")\(fraction)"
  }
}
