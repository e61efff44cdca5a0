// HTML of pages without state: confirmation, missing login, repeated navigation, error.
// Invariant: a confirmation shows the object and the number, and the answer "no" changes nothing.
import BankModel

extension ConfirmPage {
  /// Title of the page.
  public func title(_ frame: PageFrame) -> String { frame.words.please }
  /// None: the page does not change.
  public func parts(_ frame: PageFrame) -> [Region] { [] }

  /// Content of the page. The script uses the content of `[data-confirm]` for its dialog.
  public func body(_ frame: PageFrame, _ regions: [Region]) -> HTML {
    let words = frame.words
    let (action, fields, question) = parts(words)
    let yes = frame.button(words.phrases.yes, "danger", attributes: #" data-answer="yes""#)
    return """
      <section class="card confirm" data-confirm>
      <h1>\(words.please)</h1>
      <p>\(question)</p>
      <div class="answers">\(frame.form(action, fields + [("back", back)], yes))\
      <a class="button" href="\(back)" data-answer="no">\(words.phrases.no)</a></div>
      </section>
      """
  }

  private typealias Fields = [(name: HTML, value: String)]

  private func parts(_ words: PageWords) -> (action: String, fields: Fields, question: String) {
    func chosen(_ tickets: [TicketNumber], _ bound: Confirmed) -> Fields {
      tickets.map { (name: HTML("ticket"), value: "\($0)") } + [
        ("day", "\(bound.day)"), ("confirmed", bound.digits),
      ]
    }
    func whole(_ filter: RecordFilter, _ bound: Confirmed) -> Fields {
      PageFrame(language: words.language).filterFields(filter) + [
        ("all", "\(bound.count)"), ("day", "\(bound.day)"), ("confirmed", bound.digits),
      ]
    }
    switch confirmation {
    case .reset(let day, let waiting, let serving):
      return (
        "/reset", [("day", "\(day)"), ("confirmed", "1")],
        words.say(
          "Reset \(words.day(day))? The queue is emptied (\(words.people(waiting)) waiting, \(words.people(serving)) being "
            + "served), the timer is reset, and numbering restarts at 1.",
          "\(words.day(day))를 초기화할까요? 대기중 \(words.people(waiting)), 업무중 \(words.people(serving))이 모두 취소되고 "
            + "업무시간은 0, 번호는 1부터 다시 시작합니다.")
      )
    case .cancel(let tickets, let bound):
      return ("/tickets/cancel", chosen(tickets, bound), cancelling(words, tickets, bound))
    case .requeue(let tickets, let bound):
      return ("/tickets/requeue", chosen(tickets, bound), requeueing(words, tickets, bound))
    case .cancelAll(let filter, let bound):
      return ("/tickets/cancel", whole(filter, bound), cancelling(words, [], bound))
    case .requeueAll(let filter, let bound):
      return ("/tickets/requeue", whole(filter, bound), requeueing(words, [], bound))
    case .end(let window, let generation, let pid):
      return (
        "/windows/end",
        [("window", window), ("generation", "\(generation)"), ("pid", "\(pid)"), ("confirmed", "1")],
        words.say("Kill \(window), pid \(pid)?", "\(window), pid \(pid) 프로세스를 강제 종료할까요?")
      )
    }
  }

  private func cancelling(_ words: PageWords, _ tickets: [TicketNumber], _ bound: Confirmed) -> String {
    let who = named(words, tickets, bound)
    return words.say(
      "Cancel \(words.people(bound.count))?\(who) Each gets a cancelled receipt.",
      "\(words.people(bound.count))을 취소할까요?\(who) 각자 취소 영수증이 남습니다.")
  }

  private func requeueing(_ words: PageWords, _ tickets: [TicketNumber], _ bound: Confirmed) -> String {
    let who = named(words, tickets, bound)
    return words.say(
      "Requeue \(words.people(bound.count))?\(who)",
      "\(words.people(bound.count))을 다시 줄 세울까요?\(who)")
  }

  private func named(_ words: PageWords, _ tickets: [TicketNumber], _ bound: Confirmed) -> String {
    guard !tickets.isEmpty else { return " (\(words.day(bound.day)))" }
    let shown = tickets.prefix(10).map { "\($0)" }.joined(separator: ", ")
    let more = tickets.count > 10 ? ", …" : ""
    return " (\(words.day(bound.day)), \(words.say("tickets", "번호")) \(shown)\(more))"
  }
}

extension LoginPage {
  /// Title of the page.
  public func title(_ frame: PageFrame) -> String { frame.words.loginHeading }
  /// None: the page does not change.
  public func parts(_ frame: PageFrame) -> [Region] { [] }

  /// Content of the page.
  public func body(_ frame: PageFrame, _ regions: [Region]) -> HTML {
    let used: HTML? = wasUsed ? #"<p class="alarm" role="alert">\#(frame.words.usedLink)</p>"# : nil
    return """
      <section class="card confirm"><h1>\(frame.words.loginHeading)</h1>\(used)<p>\(frame.words.loginText)</p>\
      <pre class="command">bankctl web</pre></section>
      """
  }
}

extension ElsewherePage {
  /// Title of the page.
  public func title(_ frame: PageFrame) -> String { frame.words.bank }
  /// None: the page does not change.
  public func parts(_ frame: PageFrame) -> [Region] { [] }

  /// Content of the page. The link is for browsers that ignore the `refresh` element.
  public func body(_ frame: PageFrame, _ regions: [Region]) -> HTML {
    """
    <meta http-equiv="refresh" content="0; url=\(address)">
    <section class="card confirm"><h1>\(frame.words.oneMoment)</h1>\
    <p><a class="button strong" href="\(address)">\(frame.words.goOn)</a></p></section>
    """
  }
}

extension ErrorPage {
  /// Title of the page.
  public func title(_ frame: PageFrame) -> String { "\(status)" }
  /// None: the page does not change.
  public func parts(_ frame: PageFrame) -> [Region] { [] }

  /// Content of the page.
  public func body(_ frame: PageFrame, _ regions: [Region]) -> HTML {
    let detail: HTML? = detail.map { #"<p class="quiet">\#($0)</p>"# }
    return """
      <section class="card confirm"><h1><b class="number">\(status)</b></h1><p>\(sentence(frame.words))</p>\(detail)\
      <p><a class="button strong" href="/">\(frame.words.toBank)</a></p></section>
      """
  }

  private func sentence(_ words: PageWords) -> String {
    switch status {
    case 400: words.say("Invalid request.", "요청을 이해할 수 없습니다.")
    case 401: words.usedLink
    case 403: words.say("Not allowed from here.", "여기서는 할 수 없는 일입니다.")
    case 404: words.say("Page not found.", "페이지를 찾을 수 없습니다.")
    case 405: words.say("Method not allowed.", "이 주소에서는 그 방법을 쓸 수 없습니다.")
    case 408: words.say("The request took too long.", "요청이 너무 오래 걸렸습니다.")
    case 409: words.say("Not possible in the current state.", "지금 상태에서는 할 수 없습니다.")
    case 413: words.say("Request too large.", "보낼 수 있는 크기를 넘었습니다.")
    case 421: words.say("Unknown host name.", "이 서버의 이름이 아닙니다.")
    case 431:
      words.say(
        "The browser sends too much with each request, mostly cookies of other programs at this address. Delete the "
          + "cookies of 127.0.0.1, or open a new link from 'bankctl web'.",
        "브라우저가 요청마다 너무 많은 데이터를 보냅니다. 대부분 같은 주소를 쓰는 다른 프로그램의 쿠키입니다. 127.0.0.1의 쿠키를 지우거나 "
          + "'bankctl web'으로 새 링크를 받으세요.")
    case 505: words.say("This server supports HTTP/1.1.", "이 서버는 HTTP/1.1을 씁니다.")
    case 503: words.say("The bank does not respond now. Try again.", "은행이 지금 응답하지 않습니다. 다시 시도하세요.")
    default: words.say("Request failed.", "처리하지 못했습니다.")
    }
  }
}
