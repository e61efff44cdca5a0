// Owns how far the end of the bank has come, who asked for it, and when patience ends.
// It knows no queue and no process.

import BankModel
import Wire

/// The end of the bank, step by step.
struct Ending {
  /// The steps, in order.
  enum Step: Comparable {
    /// Nobody new is let in; those who wait are served.
    case serving
    /// Nobody is handed out any more; those at a window are finished.
    case finishing
    /// Nobody is at a window; the tellers go.
    case leaving
  }

  var step: Step
  /// Clients who are told about it.
  var seats: [Followers.Seat] = []
  /// When those who still wait are left for the next start.
  var serveUntil: MonotonicTime?
  /// When tellers that have not gone are ended.
  var leaveUntil: MonotonicTime?
  /// When the clients were last told how far it is.
  var toldAt = MonotonicTime(nanoseconds: 0)
  /// The last word and the last picture, once the day is closed: a day is closed once, however often the disk is full.
  var last: (report: StoppedReport, picture: StatusReport)?
  /// Customers who were there when it began.
  var total: Int64 = 0

  /// How long tellers with free hands may take to go.
  static let leaveGrace = TimeSpan.seconds(3)
  /// How often clients are told how far it is.
  static let tellPause = TimeSpan.milliseconds(200)

  var nextDeadline: MonotonicTime? {
    switch step {
    case .serving: serveUntil.map { seats.isEmpty ? $0 : min($0, toldAt + Self.tellPause) } ?? tellDue
    case .finishing: tellDue
    case .leaving: leaveUntil
    }
  }

  private var tellDue: MonotonicTime? { seats.isEmpty ? nil : toldAt + Self.tellPause }
}
