// Owns one client's connection: whether it has said hello, what it is in the middle of, and what it is owed.
// It knows no queue. Invariant: nothing is heard from a client before its hello was accepted.

import BankModel
import Posix
import Transport
import Wire

typealias ClientChannel = MessageChannel<ClientMessage, BankMessage>

/// One client of the control socket.
final class ControlSession {
  /// Tells sessions apart, also those that have ended.
  let id: UInt64
  let channel: ClientChannel
  let connectedAt: MonotonicTime
  var isGreeted = false
  /// A list of customers that is still coming.
  var list: ListSpool?
  /// Long answers that are being sent page by page, by request.
  var streams: [UInt32: AnswerStream] = [:]
  /// Requests that the queue is working on.
  var openRequests = 0
  /// Written at the end of the turn.
  var isUnflushed = false

  init(id: UInt64, channel: ClientChannel, connectedAt: MonotonicTime) {
    self.id = id
    self.channel = channel
    self.connectedAt = connectedAt
  }

  /// Whether a client that was not heard for a while can be heard again.
  func canBeHeard(within share: Int) -> Bool {
    openRequests < ClientLimits.openRequests / 2 && channel.backlog < share
  }

  /// Whether the connection still stands.
  var isOpen: Bool { channel.isOpen }
}
