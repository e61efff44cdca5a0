// Owns what every disk of a simulated service has in common: a commit takes time and may fail, whoever was killed keeps
// nothing more, and a planted bug says that something is on disk before it is. It knows no row.

import QueueCore
import Time

/// The disk of a service as its process meets it: a store in memory, and what goes wrong with it.
protocol SimulatedDisk: AnyObject {
  var world: Simulation { get }
  var process: SimulatedProcess { get }
  /// What a planted bug has said to be on disk, and is not yet.
  var isOwed: Bool { get set }
  /// The service, as it is called in a trace.
  static var name: String { get }
  /// The bug that answers before the commit, and the one that believes a full disk.
  static var bugs: (answersTooEarly: PlantedBug, believesAFullDisk: PlantedBug) { get }

  /// How long the next commit takes.
  func timeOfCommit() -> TimeSpan
  /// Commits what is in memory, or fails as this history has it.
  func commitMemory() throws(StoreError)
  /// Forgets what is in memory and not committed.
  func rollBackMemory()
  /// Tells the checker that everything is on disk.
  func noteCommit()
  /// Tells the checker that what was staged is gone.
  func noteLoss()
}

extension SimulatedDisk {
  /// Whatever a process asks for that was killed has no effect.
  func requireLife() throws(StoreError) {
    guard process.survives() else { throw .failed(path: Self.name, detail: "the process is dead") }
  }

  /// Keeps everything that was staged.
  func commit() throws(StoreError) {
    try requireLife()
    process.spend(timeOfCommit())
    if world.bug == Self.bugs.answersTooEarly {
      isOwed = true
      return
    }
    try commitNow()
  }

  private func commitNow() throws(StoreError) {
    do throws(StoreError) { try commitMemory() } catch {
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

  /// Forgets everything that was staged since the last commit.
  func rollBack() {
    rollBackMemory()
    noteLoss()
  }
}
