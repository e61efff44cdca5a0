// Owns the disk of the simulated bank as the coordinator's process meets it: the disk of this history, with the time that a
// commit takes, with what goes wrong there, and with an eye on what is kept. It must not know a rule of the queue.
// Invariant: a process that was killed keeps nothing more. Whatever fails has taken the open transaction with it.
import BankModel
import QueueCore
import Storage
import Time

final class SimulatedQueueStore: AskingStore {
  private unowned let world: Simulation
  private unowned let process: SimulatedProcess
  private var disk: QueueDisk { world.disk }
  init(of process: SimulatedProcess, in world: Simulation) { (self.process, self.world) = (process, world) }

  private func attempt<Result>(
    _ call: MemoryStore.Call, _ body: () throws(StoreError) -> Result
  ) throws(StoreError) -> Result {
    guard process.survives() else { throw .failed(path: "bank", detail: "the process is dead") }
    world.meetDisk(call)
    do throws(StoreError) { return try body() } catch {
      world.checker.rolledBack()
      throw error
    }
  }

  func load(now: WallTime) throws(StoreError) -> StoredQueue { try disk.load(now: now) }
  func beginIncarnation(at now: WallTime) throws(StoreError) -> Int64 { try disk.beginIncarnation(at: now) }

  var services: ServiceDirectory { disk.services }

  func giveNumbers(to names: [ServiceName]) throws(StoreError) {
    try attempt(.stage) { () throws(StoreError) in try disk.giveNumbers(to: names) }
  }

  func stage(_ change: StoreChange) throws(StoreError) {
    process.spend(world.plan.timeOfChange)
    try attempt(.stage) { () throws(StoreError) in try disk.stage(change) }
    world.checker.staged(change)
  }

  var hasStagedChanges: Bool { disk.hasStagedChanges }

  func commit(_ books: Books, arriving: ArrivingRequest?) throws(StoreError) {
    process.spend(world.timeOfCommit())
    var books = books
    switch world.bug {
    case .gradesUpsideDown: books = GradeMirror.mirrored(books)
    case .countsOneTooMany: books.served += 1
    default: break
    }
    try attempt(.commit) { () throws(StoreError) in try disk.commit(books, arriving: arriving) }
    world.checker.committed(books, in: disk)
    world.trace.line(process.clock, "  committed")
  }

  var arrivingFrom: TicketNumber? { disk.arrivingFrom }

  func withdrawArrivals(limit: Int) throws(StoreError) {
    try attempt(.stage) { () throws(StoreError) in try disk.withdrawArrivals(limit: limit) }
  }

  /// The disk does so by itself, at times that it draws.
  func tidyUp() {}
  var emptying: EmptyingProgress? { disk.emptying }

  func emptyFurther() throws(StoreError) {
    try attempt(.stage) { () throws(StoreError) in try disk.emptyFurther() }
  }

  func rollBack() { if !process.isDoomed { disk.rollBack() } }
  var isShort: Bool { disk.isShort }
  func lookForRoom() { world.lookForRoom() }
  func holdBack(forJuicesOf assortment: Assortment) { disk.holdBack(forJuicesOf: assortment) }
  func hasRoom(toMove customers: Int64) -> Bool { disk.hasRoom(toMove: customers) }

  func ask<Answer: Equatable>(
    _ question: @autoclosure () -> String, _ body: (any QueueStore) throws(StoreError) -> Answer,
    comparable: (Answer) -> Answer
  ) throws(StoreError) -> Answer { try body(disk) }

  func page(of line: Line, after: TicketNumber, limit: Int) throws(StoreError) -> [Customer] {
    try attempt(.read) { () throws(StoreError) in try disk.page(of: line, after: after, limit: limit) }
  }

  func find(_ ticket: TicketNumber) throws(StoreError) -> StoredCustomer? {
    try attempt(.read) { () throws(StoreError) in try disk.find(ticket) }
  }

  func customers(
    in state: CustomerState, after cursor: TicketCursor?, limit: Int
  ) throws(StoreError) -> [StoredCustomer] {
    try attempt(.read) { () throws(StoreError) in try disk.customers(in: state, after: cursor, limit: limit) }
  }

  func payload(of ticket: TicketNumber) throws(StoreError) -> [UInt8]? {
    let ticket = world.bug == .carriesThePayloadOfAnother && world.hasCommands ? max(1, ticket - 1) : ticket
    return try attempt(.read) { () throws(StoreError) in try disk.payload(of: ticket) }
  }

  func unreleased(after ticket: TicketOfDay?, limit: Int) throws(StoreError) -> [TicketOfDay] {
    try attempt(.read) { () throws(StoreError) in try disk.unreleased(after: ticket, limit: limit) }
  }
}
