// Owns one client's connection: whether it has said hello, what it is in the middle of, and what it is owed.
// It knows no queue. Invariant: nothing is heard from a client before its hello was accepted.

import BankModel
import Posix
import Transport
import Wire

typealias ClientChannel = MessageChannel<ClientMessage, BankMessage>

/// One client of the control socket.
package final class ControlSession {
  /// Tells sessions apart, also those that have ended.
  package let id: UInt64
  let channel: ClientChannel
  /// In the time that was attended, as all that a client is judged by.
  let connectedAt: MonotonicTime
  /// What was heard last when this was looked at last, and since when there was nothing else.
  var lastHeard = MonotonicInstant(nanoseconds: 0)
  var silentSince: MonotonicTime
  var isGreeted = false
  /// A list of customers that is still coming.
  var list: ListSpool?
  /// Long answers that are being sent page by page, by request.
  var streams: [UInt32: AnswerStream] = [:]
  /// Requests that watch or follow, without receipts.
  var views = 0
  /// Requests that wait among the followers, these too.
  var seats = 0
  /// Requests that the queue is working on.
  var openRequests = 0
  /// Questions that wait until what they ask for is on disk.
  var openReadings = 0
  /// Written at the end of the turn.
  var isUnflushed = false

  init(id: UInt64, channel: ClientChannel, connectedAt: MonotonicTime) {
    self.id = id
    self.channel = channel
    self.connectedAt = connectedAt
    silentSince = connectedAt
  }

  /// For how long nothing was heard, to the fineness with which this is asked.
  func silence(until now: Moment) -> TimeSpan {
    if channel.lastReceiveAt != lastHeard { (lastHeard, silentSince) = (channel.lastReceiveAt, now.attended) }
    return now.attended.since(silentSince)
  }

  /// Whether a client that was not heard for a while can be heard again.
  func canBeHeard(within share: Int) -> Bool {
    openRequests < ClientLimits.openRequests / 2 && openReadings < ClientLimits.openReadings / 2
      && channel.backlog < share
  }

  /// Whether the connection still stands.
  var isOpen: Bool { channel.isOpen }
}
