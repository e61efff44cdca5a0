// Reports of a shared bank to clients: its branches, and the total counts. The counts are those of the last answer
// of the database, apart from the customers at local windows.

import BankModel
import QueueCore
import Wire

extension BankReports {
  /// Adds the attempt in progress at a local window to a ticket report: the database does not contain it.
  func addingLocalAttempt(_ answer: ControlAnswer) -> ControlAnswer {
    guard case .ticket(var report) = answer, report.state == .waiting,
      report.day == queue.machine.dayCounters.day,
      let present = queue.machine.servingCustomers.first(where: { $0.customer.ticket == report.ticket })
    else { return answer }
    report.state = .serving
    report.progress = queue.progress[report.ticket]
    var attempt = AttemptReport(
      window: context.services.directory.name(of: present.window), generation: present.generation,
      pid: present.pid, startedAt: present.since.milliseconds, endedAt: nil, end: nil, signal: nil, code: nil)
    attempt.branch = shared?.identity.number
    report.attempts.append(attempt)
    return .ticket(report)
  }
}

extension SharedStoreSession {
  /// Branches by number, at most `BranchReport.inAnswer`.
  var branchReports: [BranchReport] {
    numbers.branches.prefix(BranchReport.inAnswer).map { branch in
      var report = BranchReport(
        number: branch.identity.number, name: branch.identity.name, host: branch.host,
        epoch: branch.identity.epoch, state: branch.state,
        leaseMilliseconds: max(0, branch.leaseMilliseconds), windows: branch.windows, served: branch.served,
        rate: rate(of: branch.identity.number).map { Int64($0 * 1_000) }, commits: branch.commits,
        isThis: branch.identity.number == identity.number)
      if branch.juices > 0 { report.juices = branch.juices }
      return report
    }
  }

  /// True if no other branch was open at the last query.
  var isAlone: Bool {
    !numbers.branches.contains { $0.state == .open && $0.identity.number != identity.number }
  }

  var ownReport: BranchReport? { branchReports.first(where: \.isThis) }

  /// Counts of all branches together.
  ///
  /// - Parameter serving: Customers at local windows. Customers at windows of other branches are counted as
  ///   waiting.
  func counts(serving: Int64) -> BoardCounts {
    let all = numbers.all
    let serving = min(serving, all.waiting)
    return BoardCounts(
      issued: numbers.issued, waiting: all.waiting - serving, delayed: all.delayed, serving: serving,
      served: all.served, cancelled: all.cancelled, dead: all.dead)
  }

  /// Report of all branches together.
  ///
  /// - Parameter own: This branch's report of its services. Customers at windows of other branches are
  ///   counted as waiting.
  func report(_ directory: ServiceDirectory, own: StatusReport) -> SharedBankReport {
    let all = numbers.all
    let serving = min(own.queue.serving, all.waiting)
    let queue = QueueReport(
      issued: numbers.issued, waiting: all.waiting - serving, delayed: all.delayed, serving: serving,
      served: all.served, dead: all.dead, cancelled: all.cancelled,
      oldestWaitMilliseconds: own.queue.oldestWaitMilliseconds)
    let services = own.services.map { service in
      var service = service
      guard let counts = directory[service.service].map(counts(of:)) else { return service }
      service.serving = min(service.serving, counts.waiting)
      service.waiting = counts.waiting - service.serving
      service.served = counts.served
      return service
    }
    return SharedBankReport(queue: queue, services: services)
  }
}
