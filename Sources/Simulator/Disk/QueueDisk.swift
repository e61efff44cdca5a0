// Owns the queue's disk in one history. In most histories it is a store in memory. In one of eight the production store
// keeps the queue on a simulated volume, and the store in memory is the model that it is compared with: whatever is read is
// read of both, and after each crash the production store holds what the model held before the commit that was under way,
// or what it held after it. Invariant: what the production store has said to be on disk is in the model; the model has
// nothing else but what the production store was found to hold at a start.
import BankModel
import QueueCore
import Storage
import Time

final class QueueDisk {
  enum Change {
    case change(StoreChange)
    case withdrawal(limit: Int)
  }

  /// A commit of which nobody knows whether it was kept.
  struct Doubt {
    var changes: [Change]
    var books: Books
    var arriving: ArrivingRequest?
  }

  private static let path = "/queue.db"
  let model = MemoryStore()
  /// Where the production store is kept; nil in a history without one.
  let volume: SimulatedVolume?
  private(set) var store: SQLiteStore?
  /// What the present process sees, where it is shown what is on its way: there its calls fail, but for the commit.
  var shown: MemoryStore?
  var onDisagreement: ((String) -> Void)?
  var onPowerLoss: (() -> Void)?
  var isCalm = false { didSet { if isCalm { volume?.calm() } } }
  private var chance: SeededGenerator
  /// Commits between two that copy the log; 0 for never.
  private let copying: Int64
  private(set) var staged: [Change] = []
  var doubt: Doubt?
  /// A sync has failed since the machine was started, under the present process or one before it: what looks written may
  /// not be.
  private var hasFailedToSync = false
  private(set) var isSuspect = false
  /// Tickets with attempts and keys that were written down in this history: what a comparison has to ask for by name.
  var attempted: Set<TicketOfDay> = []
  var keys: Set<String> = []
  /// The production store has still to be asked to take out customers of whom the model has nobody left: it looks once
  /// more whether there are any.
  var owesWithdrawal = false

  /// The production store may have fewer left who are to be taken out than the model: a withdrawal was in doubt, and of
  /// whoever never had a ticket nobody can ask how many are there.
  private(set) var mayHaveWithdrawnMore = false
  var areArrivalsUnclear: Bool { owesWithdrawal || mayHaveWithdrawnMore }

  init(seed: UInt64, mistake: String? = nil) {
    chance = SeededGenerator(seed: seed ^ 0xD15C_0000_0000_0001)
    volume = chance.draw(0...7) == 0 ? SimulatedVolume(seed: chance.next()) : nil
    copying = [0, 3, 20][Int(chance.draw(0...2))]
    volume?.mistake = mistake
  }

  func load(now: WallTime) throws(StoreError) -> StoredQueue {
    guard let volume else { return try model.load(now: now) }
    if !isCalm, chance.draw(0...5) == 0 { volume.fuse = Int(chance.draw(0...(model.commits == 0 ? 250 : 8))) }
    let store = try SQLiteStore(path: Self.path, on: volume)
    self.store = store
    // Who has died over it may have given the numbers all the same.
    if !store.services.names.starts(with: model.services.names) {
      disagree("the services \(model.services.names) have become \(store.services.names)")
    }
    try model.giveNumbers(to: store.services.names)
    let stored = try store.load(now: now)
    store.keepReserve()
    try reconcile(stored, of: store)
    return stored
  }

  func isToBlame(for error: StoreError) -> Bool {
    guard let volume else { return false }
    return switch error {
    case .diskFull: volume.isFull
    case .failed: volume.isDead
    default: false
    }
  }

  /// The process that had the store open is gone, as it should or not, and what was staged with it.
  func processEnded(isDone: Bool) {
    model.crash()
    staged.removeAll()
    guard let volume else { return }
    // Nothing is lost if the log cannot be copied now: the next start reads it.
    if isDone, !volume.isDead { try? store?.close() }
    let losingPower = chance.draw(0...2) == 0 || isSuspect && chance.draw(0...1) == 0
    isSuspect = hasFailedToSync && !losingPower
    if losingPower { hasFailedToSync = false }
    volume.endProcess(losingPower: losingPower) { store = nil }
    if losingPower { onPowerLoss?() }
    if isCalm { volume.calm() }
  }

  var services: ServiceDirectory { store?.services ?? model.services }

  func giveNumbers(to names: [ServiceName]) throws(StoreError) {
    try store?.giveNumbers(to: names)
    try model.giveNumbers(to: names)
    if let store, store.services != model.services {
      disagree("the services \(model.services.names) are \(store.services.names)")
    }
  }

  func beginIncarnation(at now: WallTime) throws(StoreError) -> Int64 {
    guard let store else { return try model.beginIncarnation(at: now) }
    let number = try store.beginIncarnation(at: now)
    // A start may be counted whose process has died before it knew.
    var known = try model.beginIncarnation(at: now)
    while known < number { known = try model.beginIncarnation(at: now) }
    if known != number { disagree("start \(known) is counted as \(number)") }
    return number
  }

  var hasStagedChanges: Bool { model.hasStagedChanges }
  var commits: Int { model.commits }

  func stage(_ change: StoreChange) throws(StoreError) {
    // What is short of room keeps no bytes of results, of which the model knows nothing.
    let change = store?.isShort == true ? change.withoutBytes : change
    try stage(.change(change), { store throws(StoreError) in try store.stage(change) })
  }

  func withdrawArrivals(limit: Int) throws(StoreError) {
    try stage(
      .withdrawal(limit: limit), { store throws(StoreError) in try store.withdrawArrivals(limit: limit) })
  }

  private func stage(
    _ change: Change, _ body: (any LocalQueueStore) throws(StoreError) -> Void
  ) throws(StoreError) {
    guard let store else { return try body(model) }
    do throws(StoreError) {
      try body(store)
      try body(model)
    } catch {
      rollBack()
      throw error
    }
    staged.append(change)
  }

  func rollBack() {
    store?.rollBack()
    model.rollBack()
    staged.removeAll()
  }

  @discardableResult
  func commit(_ books: Books, arriving: ArrivingRequest?) throws(StoreError) -> CommitProgress {
    guard let store, let volume else { return try model.commit(books, arriving: arriving) }
    if !isCalm, chance.draw(0...39) == 0 { volume.fuse = Int(chance.draw(0...9)) }
    do throws(StoreError) { try store.commit(books, arriving: arriving) } catch {
      if case .failed = error { doubt = Doubt(changes: staged, books: books, arriving: arriving) }
      model.rollBack()
      staged.removeAll()
      throw error
    }
    let changes = staged
    staged.removeAll()
    do throws(StoreError) { try model.commit(books, arriving: arriving) } catch {
      disagree("the store has committed what the model refuses: \(error)")
      throw error
    }
    try followWithdrawal(of: store, books)
    owesWithdrawal = model.arrivingFrom == nil && store.arrivingFrom != nil
    try check(changes)
    try tidyUp()
    // Whoever dies now has committed and has told nobody.
    if volume.isDead { throw .failed(path: Self.path, detail: "the process is gone") }
    return .onDisk
  }

  func tidyUp() throws(StoreError) {
    guard let store, let volume else { return }
    try? store.tidyUp()
    guard copying > 0, !store.hasStagedChanges, chance.draw(0...copying) == 0 else { return }
    // As when the queue is audited: the log is copied, and another process reads the database in its place.
    guard (try? store.freeze {}) == true else { return }
    if chance.draw(0...3) == 0, let found = try? SQLiteStore(frozen: Self.path, on: volume).audit() {
      if try found != model.audit() { disagree("the frozen database holds other rows") }
    }
    store.thaw()
  }

  var emptying: EmptyingProgress? { store?.emptying }
  func emptyFurther() throws(StoreError) { try store?.emptyFurther() }

  /// Whether nothing is free. The store in memory is told of each call that finds it so.
  var isFull: Bool {
    get { volume?.isFull ?? false }
    set { volume?.isFull = newValue }
  }

  /// Makes a call of the store in memory fail, or what is written by it on the volume.
  func fail(_ call: MemoryStore.Call, with error: StoreError) {
    guard let volume else {
      let isOfTheDisk = call == .commit || call == .commitThatIsKept
      return (isOfTheDisk ? model : shown ?? model).fail(call, with: error)
    }
    guard case .failed = error else { return }
    volume.fail(call == .commit ? .write : .sync, number: Int(chance.draw(1...(call == .commit ? 4 : 1))))
    if call != .commit { hasFailedToSync = true }
  }

  /// Whether new customers are to be refused. The store in memory believes what it is told.
  var isShort: Bool {
    get { store?.isShort ?? model.isShort }
    set { if volume == nil { model.isShort = newValue } else if !newValue { store?.lookForRoom() } }
  }

  func lookForRoom() { store?.lookForRoom() }
  func holdBack(forJuicesOf assortment: Assortment) { store?.holdBack(forJuicesOf: assortment) }
  func hasRoom(toMove customers: Int64) -> Bool { store?.hasRoom(toMove: customers) ?? true }
  func disagree(_ words: String) { onDisagreement?(words) }

  /// The commit in doubt looks lost. A part of a withdrawal may have been kept and be seen by nobody.
  func noteWithdrawalInDoubt(_ changes: [Change]) {
    if withdraws(changes) { mayHaveWithdrawnMore = true }
  }

  /// Where the production store has nobody left to take out, the model has nobody either.
  func followWithdrawal(of store: SQLiteStore, _ books: Books) throws(StoreError) {
    guard mayHaveWithdrawnMore, store.arrivingFrom == nil else { return }
    if model.arrivingFrom != nil {
      try model.withdrawArrivals(limit: .max)
      try model.commit(books, arriving: nil)
    }
    mayHaveWithdrawnMore = false
  }
}
