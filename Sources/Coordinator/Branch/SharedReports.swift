// Owns how a shared bank is described to clients: its branches, and the numbers of all of them together. It remembers nothing,
// and knows no more than the bank was heard to be last.

import BankModel
import QueueCore
import Wire

extension BankReports {
  /// What the books say of a ticket, with who is at a window here and now: that stands in no books.
  func withWhoeverIsHere(_ answer: ControlAnswer) -> ControlAnswer {
    guard case .ticket(var report) = answer, report.state == .waiting,
      report.day == queue.machine.books.day,
      let present = queue.machine.atWindows.first(where: { $0.customer.ticket == report.ticket })
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

extension SharedBank {
  /// The branches, by their numbers.
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

  /// Whether no other branch is open, as was heard last.
  var isAlone: Bool {
    !numbers.branches.contains { $0.state == .open && $0.identity.number != identity.number }
  }

  /// This branch.
  var ownReport: BranchReport? { branchReports.first(where: \.isThis) }

  /// The numbers of all branches together.
  ///
  /// - Parameter serving: how many are at windows here: who is served elsewhere is among those who wait.
  func counts(serving: Int64) -> BoardCounts {
    let all = numbers.all
    let serving = min(serving, all.waiting)
    return BoardCounts(
      issued: numbers.issued, waiting: all.waiting - serving, delayed: all.delayed, serving: serving,
      served: all.served, cancelled: all.cancelled, dead: all.dead)
  }

  /// All branches together.
  ///
  /// - Parameter own: what this branch tells of its services: who is served elsewhere is among those who wait.
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
