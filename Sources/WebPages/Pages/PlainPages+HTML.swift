// HTML of pages without state: confirmation, missing login, repeated navigation, error.
// Invariant: a confirmation shows the object and the number, and the answer "no" changes nothing.
import BankModel

extension ConfirmPage {
  /// Title of the page.
  public func title(_ frame: PageFrame) -> String { frame.messages.confirmHeading }
  /// Changing regions: none.
  public func parts(_ frame: PageFrame) -> [Region] { [] }

  /// Content of the page. The script uses the content of `[data-confirm]` for its dialog.
  public func body(_ frame: PageFrame, _ regions: [Region]) -> HTML {
    let messages = frame.messages
    let (action, fields, question) = parts(messages)
    let yes = frame.button(messages.phrases.yes, "danger", attributes: #" data-answer="yes""#)
    return """
      <section class="card confirm" data-confirm>
      <h1>\(messages.confirmHeading)</h1>
      <p>\(question)</p>
      <div class="answers">\(frame.form(action, fields + [("back", back)], yes))\
      <a class="button" href="\(back)" data-answer="no">\(messages.phrases.no)</a></div>
      </section>
      """
  }

  /// Hidden fields of a form.
  private typealias Fields = [(name: HTML, value: String)]

  /// Path of the form, its hidden fields, and the question.
  private func parts(_ messages: PageMessages) -> (action: String, fields: Fields, question: String) {
    /// Fields of a command for these tickets.
    func chosen(_ tickets: [TicketNumber], _ bound: ConfirmationToken) -> Fields {
      tickets.map { (name: HTML("ticket"), value: "\($0)") } + [
        ("day", "\(bound.day)"), ("confirmed", bound.digits),
      ]
    }
    /// Fields of a command for all customers of a filter.
    func whole(_ filter: RecordFilter, _ bound: ConfirmationToken) -> Fields {
      PageFrame(language: messages.language).filterFields(filter) + [
        ("all", "\(bound.count)"), ("day", "\(bound.day)"), ("confirmed", bound.digits),
      ]
    }
    switch confirmation {
    case .reset(let day, let waiting, let serving):
      return (
        "/reset", [("day", "\(day)"), ("confirmed", "1")],
        messages.localized(
          "Reset \(messages.day(day))? The queue is emptied (\(messages.customerCount(waiting)) waiting, \(messages.customerCount(serving)) being "
            + "served), the timer is reset, and numbering restarts at 1.",
          "\(messages.day(day))를 초기화할까요? 대기중 \(messages.customerCount(waiting)), 업무중 \(messages.customerCount(serving))이 모두 취소되고 "
            + "업무시간은 0, 번호는 1부터 다시 시작합니다.")
      )
    case .cancel(let tickets, let bound):
      return ("/tickets/cancel", chosen(tickets, bound), cancelling(messages, tickets, bound))
    case .requeue(let tickets, let bound):
      return ("/tickets/requeue", chosen(tickets, bound), requeueing(messages, tickets, bound))
    case .cancelAll(let filter, let bound):
      return ("/tickets/cancel", whole(filter, bound), cancelling(messages, [], bound))
    case .requeueAll(let filter, let bound):
      return ("/tickets/requeue", whole(filter, bound), requeueing(messages, [], bound))
    case .end(let window, let generation, let pid):
      return (
        "/windows/end",
        [("window", window), ("generation", "\(generation)"), ("pid", "\(pid)"), ("confirmed", "1")],
        messages.localized("Kill \(window), pid \(pid)?", "\(window), pid \(pid) 프로세스를 강제 종료할까요?")
      )
    }
  }

  /// Question before these tickets, or all customers of a filter if there are none, are cancelled.
  private func cancelling(_ messages: PageMessages, _ tickets: [TicketNumber], _ bound: ConfirmationToken)
    -> String
  {
    let who = named(messages, tickets, bound)
    return messages.localized(
      "Cancel \(messages.customerCount(bound.count))?\(who) Each gets a cancelled receipt.",
      "\(messages.customerCount(bound.count))을 취소할까요?\(who) 각자 취소 영수증이 남습니다.")
  }

  /// Question before these dead letters, or all of a filter if there are none, are requeued.
  private func requeueing(_ messages: PageMessages, _ tickets: [TicketNumber], _ bound: ConfirmationToken)
    -> String
  {
    let who = named(messages, tickets, bound)
    return messages.localized(
      "Requeue \(messages.customerCount(bound.count))?\(who)",
      "\(messages.customerCount(bound.count))을 다시 줄 세울까요?\(who)")
  }

  /// The day and the first tickets in parentheses, for a question; only the day if all tickets of a filter are meant.
  private func named(_ messages: PageMessages, _ tickets: [TicketNumber], _ bound: ConfirmationToken)
    -> String
  {
    guard !tickets.isEmpty else { return " (\(messages.day(bound.day)))" }
    let shown = tickets.prefix(10).map { "\($0)" }.joined(separator: ", ")
    let more = tickets.count > 10 ? ", …" : ""
    return " (\(messages.day(bound.day)), \(messages.localized("tickets", "번호")) \(shown)\(more))"
  }
}

extension LoginPage {
  /// Title of the page.
  public func title(_ frame: PageFrame) -> String { frame.messages.loginHeading }
  /// Changing regions: none.
  public func parts(_ frame: PageFrame) -> [Region] { [] }

  /// Content of the page.
  public func body(_ frame: PageFrame, _ regions: [Region]) -> HTML {
    let used: HTML? = wasUsed ? #"<p class="alarm" role="alert">\#(frame.messages.usedLink)</p>"# : nil
    return """
      <section class="card confirm"><h1>\(frame.messages.loginHeading)</h1>\(used)<p>\(frame.messages.loginText)</p>\
      <pre class="command">bankctl web</pre></section>
      """
  }
}

extension CrossSitePage {
  /// Title of the page.
  public func title(_ frame: PageFrame) -> String { frame.messages.bank }
  /// Changing regions: none.
  public func parts(_ frame: PageFrame) -> [Region] { [] }

  /// Content of the page. The link is for browsers that ignore the `refresh` element.
  public func body(_ frame: PageFrame, _ regions: [Region]) -> HTML {
    """
    <meta http-equiv="refresh" content="0; url=\(address)">
    <section class="card confirm"><h1>\(frame.messages.oneMoment)</h1>\
    <p><a class="button strong" href="\(address)">\(frame.messages.continueLink)</a></p></section>
    """
  }
}

extension ErrorPage {
  /// Title of the page: the HTTP status code.
  public func title(_ frame: PageFrame) -> String { "\(status)" }
  /// Changing regions: none.
  public func parts(_ frame: PageFrame) -> [Region] { [] }

  /// Content of the page.
  public func body(_ frame: PageFrame, _ regions: [Region]) -> HTML {
    let detail: HTML? = detail.map { #"<p class="quiet">\#($0)</p>"# }
    return """
      <section class="card confirm"><h1><b class="number">\(status)</b></h1><p>\(sentence(frame.messages))</p>\(detail)\
      <p><a class="button strong" href="/">\(frame.messages.toBank)</a></p></section>
      """
  }

  /// Explanation of an HTTP status for people.
  private func sentence(_ messages: PageMessages) -> String {
    switch status {
    case 400: messages.localized("Invalid request.", "요청을 이해할 수 없습니다.")
    case 401: messages.usedLink
    case 403: messages.localized("Not allowed from here.", "여기서는 할 수 없는 일입니다.")
    case 404: messages.localized("Page not found.", "페이지를 찾을 수 없습니다.")
    case 405: messages.localized("Method not allowed.", "이 주소에서는 그 방법을 쓸 수 없습니다.")
    case 408: messages.localized("The request took too long.", "요청이 너무 오래 걸렸습니다.")
    case 409: messages.localized("Not possible in the current state.", "지금 상태에서는 할 수 없습니다.")
    case 413: messages.localized("Request too large.", "보낼 수 있는 크기를 넘었습니다.")
    case 421: messages.localized("Unknown host name.", "이 서버의 이름이 아닙니다.")
    case 431:
      messages.localized(
        "The browser sends too much with each request, mostly cookies of other programs at this address. Delete the "
          + "cookies of 127.0.0.1, or open a new link from 'bankctl web'.",
        "브라우저가 요청마다 너무 많은 데이터를 보냅니다. 대부분 같은 주소를 쓰는 다른 프로그램의 쿠키입니다. 127.0.0.1의 쿠키를 지우거나 "
          + "'bankctl web'으로 새 링크를 받으세요.")
    case 505: messages.localized("This server supports HTTP/1.1.", "이 서버는 HTTP/1.1을 씁니다.")
    case 503: messages.localized("The bank does not respond now. Try again.", "은행이 지금 응답하지 않습니다. 다시 시도하세요.")
    default: messages.localized("Request failed.", "처리하지 못했습니다.")
    }
  }
}
