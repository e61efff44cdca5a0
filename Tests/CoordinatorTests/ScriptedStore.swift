// A shared database played by a test: it sends the events that the test names, and records the requests it
// gets.

import BankModel
import QueueCore
import Time

final class ScriptedStore: SharedQueueStore {
  var services = ServiceDirectory()
  private var events: [QueueEvent] = []
  private var branchEvents: [SharedStoreEvent] = []
  private(set) var staged: [StoreChange] = []
  private(set) var handedOver: [[StoreChange]] = []
  private(set) var asked: [StoreQuery] = []
  private(set) var arrived: [(request: RequestNumber, customers: EnqueueRequest)] = []
  private(set) var orders: [(request: RequestNumber, order: OperatorCommand)] = []
  private(set) var windows: [Int64] = []
  private(set) var paused: [(request: RequestNumber, services: [Service])] = []
  private(set) var isLeaving = false
  private(set) var drains: [RequestNumber] = []
  private var underway = 0

  static let identity = BranchIdentity(number: 1, name: "here", epoch: 1)

  // MARK: - Events sent by the test

  func emit(_ event: QueueEvent) { events.append(event) }
  func emit(_ event: SharedStoreEvent) { branchEvents.append(event) }

  func emit(page tickets: ClosedRange<TicketNumber>, _ priority: Priority = .regular) {
    let customers = tickets.map { ticket in
      CustomerOrder(service: .deposit, priority: priority, amount: 5, account: 7).customer(
        ticket: ticket, issuedAt: WallTime(milliseconds: 5))
    }
    emit(.pageLoaded(Line(service: .deposit, priority: priority), customers))
  }

  /// The oldest transaction is in the database.
  func commitOldest(rejectedCompletions tickets: [TicketNumber] = []) {
    if !tickets.isEmpty { emit(.withoutEffect(tickets)) }
    emit(.committed)
  }

  // MARK: - The queue's store

  var hasStagedChanges: Bool { !staged.isEmpty || underway > 0 }
  func payload(of ticket: TicketNumber) throws(StoreError) -> [UInt8]? { nil }
  func stage(_ change: StoreChange) throws(StoreError) { staged.append(change) }

  func commit(_ dayCounters: DayCounters, arriving: InProgressEnqueue?) throws(StoreError) -> CommitProgress {
    if staged.isEmpty, underway == 0 { return .onDisk }
    handedOver.append(staged)
    staged.removeAll()
    underway += 1
    return .underway
  }

  func ask(_ question: StoreQuery) throws(StoreError) -> QueueEvent? {
    asked.append(question)
    return nil
  }

  func takeResult() throws(StoreError) -> QueueEvent? {
    guard !events.isEmpty else { return nil }
    let event = events.removeFirst()
    if case .committed = event { underway -= 1 }
    if case .claimsLost = event { (staged, underway) = ([], 0) }
    return event
  }

  var nextResult: MonotonicTime? { nil }
  func rollBack() { (staged, underway) = ([], 0) }

  // MARK: - The branch

  func nextEvent() -> SharedStoreEvent? { branchEvents.isEmpty ? nil : branchEvents.removeFirst() }
  func enqueueCustomers(_ customers: EnqueueRequest, for request: RequestNumber) {
    arrived.append((request, customers))
  }
  func perform(_ order: OperatorCommand, for request: RequestNumber) { orders.append((request, order)) }
  func note(windows: Int64, oldest: WallTime?) { self.windows.append(windows) }
  func savePaused(_ services: [Service], for request: RequestNumber) { paused.append((request, services)) }
  func drainBank(for request: RequestNumber) { drains.append(request) }
  func leave() { isLeaving = true }
  func finishIteration() {}
}
