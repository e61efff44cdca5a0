// Owns the one way in which clients are told what the store keeps: tickets, receipts, accounts, lists, audits.
// A client may be told only what is on disk. The store's connection also shows what is staged, so a question is answered
// at once where nothing is, and otherwise right after the next commit, before anything else can be staged.
// Invariant: no answer that quotes the store leaves while something is staged; `ControlServer` traps where one would.
// A question neither commits anything nor hurries a commit, so whoever looks costs those who are served nothing.

import BankModel
import Logbook
import QueueCore
import Wire

/// A question that waits until nothing is staged.
struct PendingReading {
  var seat: Followers.Seat
  /// Whether the answer must fit the queue in memory: not while the disk is full and the queue is ahead of it.
  var isInStep: Bool
  var look: (any QueueStore) throws(StoreError) -> Void
}

extension Coordinator {
  /// Whether everything that the store shows is on disk.
  var isKept: Bool { !store.hasStagedChanges }

  /// Has a client's question answered as soon as everything that the store shows is on disk.
  ///
  /// - Parameters:
  ///   - isInStep: Whether the queue in memory must not be ahead of the disk either, as it is while the disk is full.
  ///   - look: Asks the store and answers; what it throws is told to the client, by its name.
  func whenKept(
    _ seat: Followers.Seat, isInStep: Bool = false,
    _ look: @escaping (any QueueStore) throws(StoreError) -> Void
  ) {
    let reading = PendingReading(seat: seat, isInStep: isInStep, look: look)
    if canRead(reading) { return read(reading) }
    readings.append(reading)
    seat.session.openReadings += 1
  }

  /// Answers a client with what the store says, as soon as that is on disk.
  func tellKept(
    _ seat: Followers.Seat, _ answer: @escaping (any QueueStore) throws(StoreError) -> ControlAnswer
  ) {
    whenKept(seat) { [unowned self] store throws(StoreError) in
      server.answer(seat.session, seat.number, try answer(store))
    }
  }

  /// Answers everything that has waited for the present moment, in which nothing is staged.
  func answerReadings() {
    guard isKept else { return }
    if !readings.isEmpty {
      let waiting = readings
      readings.removeAll(keepingCapacity: true)
      for reading in waiting {
        guard canRead(reading) else {
          readings.append(reading)
          continue
        }
        reading.seat.session.openReadings -= 1
        read(reading)
      }
    }
    advanceAudit()
    pumpStreams()
  }

  /// Forgets the questions of a client that has left.
  func forgetReadings(of session: ControlSession) {
    guard session.openReadings > 0 else { return }
    readings.removeAll { $0.seat.session === session }
    session.openReadings = 0
  }

  private func canRead(_ reading: PendingReading) -> Bool {
    isKept && (!reading.isInStep || (retryAt == nil && !machine.isJammed))
  }

  private func read(_ reading: PendingReading) {
    guard reading.seat.session.isOpen else { return }
    do throws(StoreError) { try reading.look(store) } catch { readingFailed(error, reading.seat) }
  }

  /// What a client asked for cannot be read: it is told so by the error's own name, and so is the log.
  func readingFailed(_ error: StoreError, _ seat: Followers.Seat) {
    log.write(event: "not_read", level: .error, at: now) { $0.field("msg", error.description) }
    server.answer(seat.session, seat.number, .failure(Failure(store: error)))
  }
}

extension ControlAnswer {
  /// Whether it tells something that a client may rely on after a crash, so that it must be on disk before.
  ///
  /// The numbers of a status and of a progress may run ahead of the disk. Events are held back by ``Followers`` until
  /// their own commit, and a refusal quotes nothing that was read, or is asked through ``Coordinator/whenKept(_:isInStep:_:)``.
  var quotesWhatIsKept: Bool {
    switch self {
    case .enqueued, .tickets, .ticket, .receipts, .ended, .requeued, .stopped, .audit, .ledger, .account: true
    case .failure, .status, .event, .progress: false
    }
  }
}
