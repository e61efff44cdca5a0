// Pages and streams with an incomplete or invalid address: a ticket without its day, an invalid field.
// Invariant: a stream of a ticket is bound to the day of the ticket at the start of the stream.
import BankModel
import WebCore
import WebPages
import WebServer
import Wire

extension WebApplication {
  /// Streams pages. The day of a ticket without one is read from the coordinator first.
  func follow(_ paths: [PagePath], _ exchange: HTTPExchange, _ visitor: Visitor?) {
    var unbound: (place: Int, number: Int64)?
    for (place, path) in paths.enumerated() {
      if case .ticket(let number, day: nil) = path { unbound = (place, number) }
    }
    guard let (place, number) = unbound else { return director.follow(paths, exchange, visitor) }
    control.ask(.ticket(number: number, day: nil)) { [self] outcome in
      switch outcome.only(\.ticket) {
      case .success(let report):
        var bound = paths
        bound[place] = .ticket(number, day: report.day)
        follow(bound, exchange, visitor)
      case .failure(let failure): exchange.respond(APIRoutes.refusal(failure))
      }
    }
  }

  /// Refuses an address or a form because of one field, as a page or as JSON.
  func refusal(_ request: HTTPRequest, _ fault: FieldFault) -> HTTPResponse {
    let language = Preferences.language(of: request)
    let problem = FieldProblem(fault)
    if request.wantsJSON {
      let text = Notice.refused(.badForm).json(language, because: problem)
      return .json(Array(text.utf8), status: 400)
    }
    let page = ErrorPage(status: 400, detail: problem.text(language))
    return .page(page.html(director.frame(request)), status: 400)
  }
}

extension FieldProblem {
  init(_ fault: FieldFault) {
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
