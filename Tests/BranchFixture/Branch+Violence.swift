// What is done to a branch from outside: processes are killed. Pids come from `status` and nowhere else, and a
// process is signalled only where it carries the mark of this branch.
import Glibc
import Testing

extension Branch {
  /// Kills a worker and returns its pid.
  @discardableResult
  public func kill(
    worker name: String, _ signal: Int32 = SIGKILL, at location: SourceLocation = #_sourceLocation
  ) throws -> Int {
    let worker = try #require(try status().worker(name), "no worker \(name)", sourceLocation: location)
    try #require(processes.signal(worker.pid, signal), "\(name) is not alive", sourceLocation: location)
    return worker.pid
  }

  /// Kills the coordinator for good, with its guardian, waits until they and all workers are gone, and returns how long
  /// those outlived it.
  @discardableResult
  public func killCoordinator(at location: SourceLocation = #_sourceLocation) throws -> Duration {
    let status = try status(at: location)
    // Stopped first, so that neither can bring the other back.
    if let guardian = status.guardianPid {
      processes.signal(status.pid, SIGSTOP)
      processes.signal(guardian, SIGKILL)
    }
    try #require(processes.signal(status.pid, SIGKILL), "it is not alive", sourceLocation: location)
    let start = ContinuousClock.now
    try waitUntil("the coordinator and its workers are gone", within: .seconds(5), at: location) {
      let pids = [status.pid] + status.workers.map(\.pid) + [status.guardianPid].compactMap { $0 }
      return pids.allSatisfy { !processes.isAlive($0) }
    }
    return ContinuousClock.now - start
  }

  /// Waits until a worker serves this ticket.
  public func waitUntilServed(
    by name: String, ticket: Int, at location: SourceLocation = #_sourceLocation
  ) throws {
    try waitUntil("\(name) serves \(ticket)", at: location) { try status().worker(name)?.ticket == ticket }
  }

  /// Expects that nothing of this branch runs. Who has said its last word may take a moment to be gone.
  public func expectNobodyLeft(at location: SourceLocation = #_sourceLocation) throws {
    try waitUntil("nobody is left", within: .seconds(10), at: location) { processes.all().isEmpty }
  }
}
