// Owns what the coordinator knows of one client of the control socket: what it is in the middle of, and what it is owed.
// It knows no queue.

import BankModel
import Posix
import Transport
import Wire

/// One client of the control socket.
package final class ControlSession: ClientSession<ClientMessage, BankMessage> {
  /// A list of customers that is still coming.
  var list: ListSpool?
  /// Long answers that are being sent page by page, by request.
  var streams: [UInt32: AnswerStream] = [:]
  /// Requests that wait among the followers, these too.
  var seats = 0
  /// Questions that wait until what they ask for is on disk.
  var openReadings = 0

  /// Whether a client that was not heard for a while can be heard again.
  func canBeHeard(within share: Int) -> Bool {
    openRequests < ClientLimits.openRequests / 2 && openReadings < ClientLimits.openReadings / 2
      && channel.backlog < share
  }
}
