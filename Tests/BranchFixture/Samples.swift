// Documents of the contract, as they are printed there; the output of the programs is compared with them. `null` marks
// a value that depends on the state.
public enum Samples {
  public static func parsed(_ text: String) -> JSON { (try? JSON(parsing: text)) ?? .missing }

  public static let status = parsed(
    """
    {"version":1,
     "bank":{"state":"open","day":1,"pid":4242,"generation":1,"since":"2026-01-01T00:00:00.000Z","business_ms":4410},
     "queue":{"issued":10,"waiting":3,"delayed":0,"serving":3,"served":4,"dead":0,"cancelled":0,"oldest_wait_ms":812},
     "services":[{"name":"deposit","windows":2,"waiting":1,"serving":2,"served":3,"paused":false}],
     "workers":[{"name":"deposit-1","role":"teller","service":null,"window":null,"pid":4243,"generation":1,
                 "state":"serving","ticket":null,"restarts":0,"served":2,"rss_kb":2900,"last_exit":null}]}
    """)

  public static let enqueued = parsed(#"{"version":1,"day":1,"first":1,"last":10,"count":10,"known":false}"#)

  public static let receipt = parsed(
    """
    {"day":1,"ticket":7,"service":"loan","grade":"regular","priority":1024,"outcome":"served","window":"loan-1","attempts":1,
     "amount":250000,"debit":"loans","credit":"customer-12","issued_at":"Z","started_at":"Z","finished_at":"Z"}
    """)

  public static let cancelledReceipt = parsed(
    """
    {"day":1,"ticket":7,"service":"loan","grade":"regular","priority":1024,"outcome":"cancelled","window":null,"attempts":0,
     "amount":250000,"debit":null,"credit":null,"issued_at":"Z","started_at":null,"finished_at":"Z"}
    """)

  public static let ticket = parsed(
    """
    {"version":1,"day":1,"ticket":7,"service":"loan","grade":"regular","priority":1024,"state":"done","amount":250000,"issued_at":"Z",
     "outcome":"served","window":"loan-1","debit":"loans","credit":"customer-12","started_at":"Z","finished_at":"Z",
     "attempts":[{"window":"loan-1","generation":2,"pid":4250,"started_at":"Z","ended_at":"Z","end":"served",
                  "signal":null}]}
    """)

  public static let waitingTicket = parsed(
    #"{"version":1,"day":1,"ticket":7,"state":"waiting","position":1,"eta_ms":700,"attempts":[]}"#)

  public static let stopped = parsed(
    #"{"version":1,"day":1,"served":10,"business_ms":4410,"waiting":0,"finished":10,"killed":0,"#
      + #""steps":[{"step":"refuse_new","duration_ms":0}]}"#)

  public static let audit = parsed(
    """
    {"version":1,"ok":true,"issued":1,"served":1,"lost":0,"duplicated":0,"ledger_difference":0,
     "stock_difference":0,"money_difference":0,"problems":[]}
    """)

  public static let error = parsed(#"{"version":1,"error":{"code":"queue_full","message":"..."}}"#)
}
