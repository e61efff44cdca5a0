// Faults injected into a branch from outside: processes are killed. Pids come from `status` only, and a process is
// signalled only if it carries the mark of this branch.
import Glibc
import Testing

extension ScratchBank {
  /// Kills a worker and returns its pid.
  @discardableResult
  public func kill(
    worker name: String, _ signal: Int32 = SIGKILL, at location: SourceLocation = #_sourceLocation
  ) throws -> Int {
    let worker = try #require(
      try status().worker(name), "there is no worker \(name)", sourceLocation: location)
    try #require(processes.signal(worker.pid, signal), "\(name) is not running", sourceLocation: location)
    return worker.pid
  }

  /// Kills the coordinator with its guardian, so that neither is restarted. Waits until they and all workers have
  /// exited, and returns how long the workers outlived the coordinator.
  @discardableResult
  public func killCoordinator(at location: SourceLocation = #_sourceLocation) throws -> Duration {
    let status = try status(at: location)
    // Stopped first, so that neither can restart the other.
    if let guardian = status.guardianPid {
      processes.signal(status.pid, SIGSTOP)
      processes.signal(guardian, SIGKILL)
    }
    try #require(
      processes.signal(status.pid, SIGKILL), "the coordinator is not running", sourceLocation: location)
    let start = ContinuousClock.now
    try waitUntil("the coordinator and its workers have exited", within: .seconds(5), at: location) {
      let pids = [status.pid] + status.workers.map(\.pid) + [status.guardianPid].compactMap { $0 }
      return pids.allSatisfy { !processes.isAlive($0) }
    }
    return ContinuousClock.now - start
  }

  public func waitUntilServed(
    by name: String, ticket: Int, at location: SourceLocation = #_sourceLocation
  ) throws {
    try waitUntil("\(name) serves \(ticket)", at: location) { try status().worker(name)?.ticket == ticket }
  }

  /// Expects that no process of this branch runs. A process may need a moment to exit after its last output.
  public func expectNoProcessesLeft(at location: SourceLocation = #_sourceLocation) throws {
    try waitUntil("no process of the branch is left", within: .seconds(10), at: location) {
      processes.all().isEmpty
    }
  }
}
