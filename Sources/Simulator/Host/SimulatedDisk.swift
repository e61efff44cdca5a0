// Owns what every disk of a simulated service has in common: a commit takes time and may fail, whoever was killed keeps
// nothing more, and a planted bug says that something is on disk before it is.
import BankModel
import QueueCore

protocol SimulatedDisk: EntryStore where Failure == StoreError {
  associatedtype Memory: EntryStore<Entry, StoreError>

  var world: Simulation { get }
  var process: SimulatedProcess { get }
  var memory: Memory { get }
  /// What a planted bug has said to be on disk, and is not yet.
  var isOwed: Bool { get set }
  static var name: String { get }
  static var bugs: (answersTooEarly: PlantedBug, believesAFullDisk: PlantedBug) { get }

  func timeOfCommit() -> TimeSpan
  func meetCommit()
  func noteCommit()
  func noteLoss()
}

extension SimulatedDisk {
  var hasStagedChanges: Bool { memory.hasStagedChanges }

  /// The store in memory; whatever a process asks for that was killed has no effect.
  func alive() throws(StoreError) -> Memory {
    guard process.survives() else { throw .failed(path: Self.name, detail: "the process is dead") }
    return memory
  }

  func commit() throws(StoreError) {
    _ = try alive()
    process.spend(timeOfCommit())
    isOwed = world.bug == Self.bugs.answersTooEarly
    if !isOwed { try commitNow() }
  }

  private func commitNow() throws(StoreError) {
    do throws(StoreError) {
      meetCommit()
      try memory.commit()
    } catch {
      guard case .diskFull = error else {
        if case .damaged(_, let detail) = error {
          world.violate(.storeContradiction, "\(Self.name): \(detail)")
        }
        throw error
      }
      guard world.bug == Self.bugs.believesAFullDisk else { throw error }
      rollBack()
    }
    noteCommit()
    world.trace.line(process.clock, "  \(Self.name): committed")
  }

  /// A planted bug: what was said to be on disk is put there when everything was answered.
  func payOff() {
    guard isOwed, process.survives() else { return }
    isOwed = false
    try? commitNow()
  }

  func rollBack() {
    memory.rollBack()
    noteLoss()
  }
}
