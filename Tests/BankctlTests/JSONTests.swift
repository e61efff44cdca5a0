// The shapes that scripts rely on, letter for letter.
import BankModel
import Testing
import Wire

@testable import BankctlCommands

@Test("a document keeps the order of its fields and all 64 bits of its numbers")
func order() {
  let document: JSONValue = [
    "z": 1, "a": [true, nil, "x"], "n": .integer(.min), "m": .integer(.max), "o": [:], "l": [],
  ]
  #expect(
    document.text
      == #"{"z":1,"a":[true,null,"x"],"n":-9223372036854775808,"m":9223372036854775807,"o":{},"l":[]}"#)
}

@Test("a sum that does not fit in 64 bits is a number all the same, with grouping as any other")
func wideNumbers() {
  let row = LedgerRow(account: "cash", debit: 10_000_000_000_000_000_000, credit: 1, transfers: 10_000_000)
  let text = JSONValue.ledger([row]).text
  #expect(text.contains("\"debit\":10000000000000000000,"), "\(text)")
  #expect(text.contains("\"balance\":-9999999999999999999,"), "\(text)")
  #expect(text.contains("\"difference\":-9999999999999999999}"), "\(text)")
  #expect(MessageCatalog.grouped(row.debit) == "10,000,000,000,000,000,000")
}

@Test("a text is escaped so that it stays one line and one string")
func escapes() {
  #expect(JSONValue.string("\"\\\n\t\r\u{1}\u{1B}\u{7F}/한글🙂").text == #""\"\\\n\t\r\u0001\u001b\u007f/한글🙂""#)
}

@Test("status has its shape")
func statusShape() {
  #expect(
    JSONValue.status(picture()).text == """
      {"version":1,"bank":{"state":"open","day":1,"pid":4242,"generation":1,\
      "since":"2026-11-21T08:00:00.000Z",\
      "business_ms":4410,"guardian_pid":null},"queue":{"issued":10,"waiting":3,"delayed":0,"serving":3,"served":4,"dead":0,\
      "cancelled":0,"oldest_wait_ms":812},"services":[{"name":"deposit","windows":2,"waiting":1,"serving":2,\
      "served":3,"paused":false},{"name":"loan","windows":1,"waiting":2,"serving":1,"served":1,\
      "paused":true}],\
      "workers":[{"name":"deposit-1","role":"teller","service":"deposit","window":1,"pid":4243,\
      "generation":1,\
      "state":"serving","ticket":7,"restarts":0,"served":2,"rss_kb":2900,"last_exit":null},{"name":"loan-1","role":"teller",\
      "service":"loan","window":1,"pid":0,"generation":2,"state":"backoff","ticket":null,"restarts":1,\
      "served":1,\
      "rss_kb":0,"last_exit":null}]}
      """)
}

@Test("enqueue has its shape")
func enqueueShape() {
  let ten = #"{"version":1,"day":1,"first":1,"last":10,"count":10,"known":"#
  var report = EnqueuedReport(day: 1, first: 1, last: 10, count: 10)
  #expect(JSONValue.enqueued(report, ofList: false).text == ten + "false}")
  #expect(
    JSONValue.enqueued(report, ofList: true).text == ten
      + #"false,"already_issued_count":0,"already_issued":[]}"#)
  report.known = 10
  #expect(JSONValue.enqueued(report, ofList: false).text == ten + "true}")
  report.known = 2
  report.alreadyIssuedTickets = [TicketSpan(day: 1, first: 3, last: 4)]
  let tickets = #""already_issued_count":2,"already_issued":[{"day":1,"first":3,"last":4}]}"#
  #expect(JSONValue.enqueued(report, ofList: true).text == ten + "false," + tickets)
  // A list in which all customers are known.
  report = EnqueuedReport(
    day: 1, first: 0, last: 0, count: 0, known: 2, alreadyIssuedTickets: report.alreadyIssuedTickets)
  #expect(
    JSONValue.enqueued(report, ofList: true).text
      == #"{"version":1,"day":1,"first":0,"last":0,"count":0,"known":true,"# + tickets)
}

@Test("a receipt has its shape, with null for missing values")
func receiptShape() {
  #expect(
    JSONValue.receipt(receipt(7)).text == """
      {"day":1,"ticket":7,"service":"loan","grade":"regular","priority":1024,"outcome":"served","window":"loan-1",\
      "attempts":1,\
      "amount":250000,"debit":"loans","credit":"customer-12","issued_at":"2026-11-21T08:00:00.000Z",\
      "started_at":"2026-11-21T08:00:00.100Z","finished_at":"2026-11-21T08:00:01.200Z"}
      """)
  #expect(
    JSONValue.receipt(receipt(7, outcome: .cancelled)).text == """
      {"day":1,"ticket":7,"service":"loan","grade":"regular","priority":1024,"outcome":"cancelled","window":null,\
      "attempts":0,\
      "amount":250000,"debit":null,"credit":null,"issued_at":"2026-11-21T08:00:00.000Z","started_at":null,\
      "finished_at":"2026-11-21T08:00:01.200Z"}
      """)
}

@Test("a ticket has its shape in every state")
func ticketShape() {
  var ticket = waiting(7, service: .loan, priority: .vip)
  let head = """
    {"version":1,"day":1,"ticket":7,"service":"loan","grade":"vip","priority":1023,"state":"STATE","amount":50000,\
    "account":12,\
    "issued_at":"2026-11-21T08:00:00.000Z",
    """
  func shape(_ state: String, _ rest: String) -> String {
    var text = head
    if let range = text.firstRange(of: "STATE") { text.replaceSubrange(range, with: state) }
    return text + rest
  }
  #expect(
    JSONValue.ticket(ticket).text == shape("waiting", #""position":1,"eta_ms":700,"attempts":[]}"#))
  ticket.state = .delayed
  ticket.dueAt = 1_795_248_000_001
  #expect(
    JSONValue.ticket(ticket).text == shape("delayed", #""due_at":"2026-11-21T08:00:00.001Z","attempts":[]}"#))
  ticket.state = .serving
  ticket.window = "loan-1"
  #expect(JSONValue.ticket(ticket).text == shape("serving", #""window":"loan-1","attempts":[]}"#))
  ticket.state = .dead
  ticket.attempts = [
    AttemptReport(
      window: "loan-1", generation: 2, pid: 4250, startedAt: 1_795_248_000_000, endedAt: 1_795_248_000_002,
      end: .killed, signal: 9, code: nil)
  ]
  let attempts = """
    "attempts":[{"window":"loan-1","generation":2,"pid":4250,"started_at":"2026-11-21T08:00:00.000Z",\
    "ended_at":"2026-11-21T08:00:00.002Z","end":"killed","signal":9,"code":null}]}
    """
  #expect(JSONValue.ticket(ticket).text == shape("dead", attempts))
  ticket.state = .done
  ticket.attempts = []
  ticket.receipt = receipt(7)
  let fields = """
    "outcome":"served","window":"loan-1","debit":"loans","credit":"customer-12",\
    "started_at":"2026-11-21T08:00:00.100Z","finished_at":"2026-11-21T08:00:01.200Z","attempts":[]}
    """
  #expect(JSONValue.ticket(ticket).text == shape("done", fields))
}

@Test("stop, audit and errors have their shapes")
func otherShapes() {
  let stopped = StoppedReport(
    day: 1, served: 10, businessMilliseconds: 4410, waiting: 0, dead: 0, isDayClosed: true, finished: 4,
    killed: 1, steps: [DrainStepReport(step: .serveWaiting, milliseconds: 7)])
  #expect(
    JSONValue.stopped(stopped).text == """
      {"version":1,"day":1,"served":10,"business_ms":4410,"waiting":0,"dead":0,"day_closed":true,\
      "finished":4,"killed":1,"steps":[{"step":"serve_waiting","duration_ms":7}]}
      """)
  var audit = AuditReport(
    issued: 10, served: 9, cancelled: 1, waiting: 0, delayed: 0, dead: 0, lost: 0, duplicated: 0,
    ledgerDifference: 0, problems: [])
  #expect(
    JSONValue.audit(audit).text == """
      {"version":1,"ok":true,"issued":10,"served":9,"cancelled":1,"waiting":0,"delayed":0,"dead":0,"lost":0,\
      "duplicated":0,"ledger_difference":0,"stock_difference":0,"money_difference":0,"problems":[]}
      """)
  audit.ledgerDifference = -1
  #expect(!audit.isClean)
  #expect(
    JSONValue.error(code: "queue_full", message: "no").text
      == #"{"version":1,"error":{"code":"queue_full","message":"no"}}"#)
}
