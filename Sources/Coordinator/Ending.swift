// Owns what the coordinator remembers of the end of the bank: how far it has come, who asked for it, what they were told.
// It decides nothing: the drain does. It knows no queue and no process.

import BankModel
import Supervision
import Wire

/// The end of the bank.
struct Ending {
  var drain: Drain
  /// Clients who are told about it.
  var seats: [Followers.Seat] = []
  /// When the clients were last told how far it is.
  var toldAt = MonotonicTime(nanoseconds: 0)
  /// The last word and the last picture, once the day is closed: a day is closed once, however often the disk is full.
  var last: (report: StoppedReport, picture: StatusReport)?
  /// Customers who were there when the present step began.
  var total: Int64 = 0
  /// Customers who had been served when it began.
  var servedBefore: Int64
  /// Windows whose tellers had to be killed.
  var killed: Set<Window> = []
  /// The queue has reported that nobody is at a window any more, and nobody will be.
  var isDrained = false
  /// Everybody of the house was sent home: the stock and the machine can be asked no more.
  var isDismissing = false
  /// There is nobody left; the day can be closed.
  var isOver = false
  /// The drain is being looked at: what it wants done makes other things happen.
  var isLooking = false

  /// How often clients are told how far it is.
  static let tellPause = TimeSpan.milliseconds(200)

  init(at now: MonotonicTime, served: Int64) {
    drain = Drain(at: now)
    servedBefore = served
  }

  /// Answers that a client is waiting for here.
  func count(of session: ControlSession) -> Int { seats.count { $0.session === session } }

  var nextDeadline: MonotonicTime? {
    [drain.nextDeadline, isTold ? toldAt + Self.tellPause : nil].compactMap { $0 }.min()
  }

  /// Whether somebody wants to know how far it is.
  var isTold: Bool { !seats.isEmpty && drain.step != .kill }
}
