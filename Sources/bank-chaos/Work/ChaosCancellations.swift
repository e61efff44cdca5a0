// A client of a chaos run that cancels customers while they are served, and records the requests and answers.
// Invariant: a ticket is recorded before the first byte of its request is sent.
// Errors: after a lost answer the outcome is unknown, and both outcomes are valid.
import BankModel
import ControlClient
import Posix
import Time
import Wire

final class ChaosCancellations {
  /// Tickets whose cancellation was requested.
  private(set) var asked: Set<ChaosTicket> = []
  /// Tickets whose cancellation was confirmed.
  private(set) var confirmed: Set<ChaosTicket> = []
  /// Called for each confirmed ticket.
  var onConfirmed: (ChaosTicket) -> Void = { _ in }
  private let home: BankHome
  private let loop: EventLoop
  private var chance: SeededGenerator
  private var connection: ChaosConnection?
  /// Tickets of the open requests, by the number of the request.
  private var open: [UInt32: ChaosTicket] = [:]
  private var nextAt: MonotonicTime
  /// Range of the pauses between two cancellations, in milliseconds.
  private static let pauses: ClosedRange<Int64> = 50...300

  init(_ home: BankHome, on loop: EventLoop, seed: UInt64) {
    (self.home, self.loop) = (home, loop)
    chance = SeededGenerator(seed: seed ^ 0x6361_6E63_656C)
    nextAt = SystemClock.monotonic() + .milliseconds(chance.draw(Self.pauses))
  }

  /// Cancels a customer of a command or a worker, if one is served and the pause is over.
  func runIteration(_ now: MonotonicTime, _ snapshot: StatusReport?, wantsMore: Bool) {
    readReplies()
    guard wantsMore, now >= nextAt, let snapshot else { return }
    let served = snapshot.workers.filter { worker in
      worker.ticket != nil && worker.service.map { ChaosServices.all.contains($0) } == true
    }
    guard !served.isEmpty else { return }
    nextAt = now + .milliseconds(chance.draw(Self.pauses))
    guard let number = served[Int(chance.draw(0...Int64(served.count) - 1))].ticket,
      let connection = connection ?? ChaosConnection(to: home, on: loop)
    else { return }
    self.connection = connection
    let ticket = ChaosTicket(day: snapshot.day, number: number)
    asked.insert(ticket)
    open[connection.send(.cancel(number, day: snapshot.day))] = ticket
  }

  /// Reads the answers, and records the confirmed cancellations.
  private func readReplies() {
    guard let connection else { return }
    for reply in connection.take() {
      guard let ticket = open.removeValue(forKey: reply.number) else { continue }
      if case .failure = reply.answer { continue }
      confirmed.insert(ticket)
      onConfirmed(ticket)
    }
    guard !connection.isOpen else { return }
    self.connection = nil
    open.removeAll()
  }

  /// Reads the last answers, and disconnects.
  func disconnect() {
    readReplies()
    connection = nil
  }
}
