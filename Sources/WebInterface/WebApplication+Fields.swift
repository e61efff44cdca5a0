// Pages and streams with an incomplete or invalid address: a ticket without its day, an invalid field.
// Invariant: a stream of a ticket is bound to the day of the ticket at the start of the stream.
import BankModel
import WebCore
import WebPages
import WebServer
import Wire

extension WebApplication {
  /// Streams pages. If the address of a ticket has no day, its day is read from the coordinator first.
  func streamPages(_ paths: [PagePath], _ exchange: HTTPExchange, _ visitor: Visitor?) {
    var unbound: (place: Int, number: Int64)?
    for (index, path) in paths.enumerated() {
      if case .ticket(let number, day: nil) = path { unbound = (index, number) }
    }
    guard let (index, number) = unbound else {
      return pageSubscriptions.streamPages(paths, exchange, visitor)
    }
    control.ask(.ticket(number: number, day: nil)) { [self] outcome in
      switch outcome.only(\.ticket) {
      case .success(let report):
        var bound = paths
        bound[index] = .ticket(number, day: report.day)
        streamPages(bound, exchange, visitor)
      case .failure(let failure): exchange.respond(APIRoutes.refusal(failure))
      }
    }
  }

  /// Refuses an address or a form because of one field, as a page or as JSON.
  func refusal(_ request: HTTPRequest, _ fault: FieldError) -> HTTPResponse {
    let language = Preferences.language(of: request)
    let problem = FieldProblem(fault)
    if request.wantsJSON {
      let text = Notice.refused(.badForm).json(language, because: problem)
      return .json(Array(text.utf8), status: 400)
    }
    let page = ErrorPage(status: 400, detail: problem.text(language))
    return .page(page.html(pageSubscriptions.frame(request)), status: 400)
  }
}

extension FieldProblem {
  init(_ fault: FieldError) {
    let name = fault.field
    self =
      switch fault.problem {
      case .unknown: .unknown(name)
      case .missing: .missing(name)
      case .repeated: .repeated(name)
      case .excluded(let other): .excluded(name, by: other)
      case .value: .value(name)
      case .form: .form
      }
  }
}
