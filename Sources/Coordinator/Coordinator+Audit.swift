// Owns the audit of an open bank: what is kept, what is in memory, who may enter the home, and who works in its name.
// It changes nothing. A process that is not known may just be ending, so it is looked for again a moment later, and the
// client waits that long; everybody else does not.

import BankModel
import Posix
import QueueCore
import Wire

/// An audit that has seen a stranger and looks again.
struct PendingAudit {
  var seat: Followers.Seat
  var strangers: Set<HomeAudit.Stranger>
  var dueAt: MonotonicTime
}

extension Coordinator {
  func tellAudit(_ seat: Followers.Seat) {
    let strangers = HomeAudit(home: home).strangers(known: knownProcesses)
    guard !strangers.isEmpty else { return answerAudit(seat, strangers) }
    pendingAudits.append(
      PendingAudit(
        seat: seat, strangers: strangers, dueAt: now.monotonic + TimeSpan(HomeAudit.secondLook)))
  }

  /// Looks again for strangers who were seen a moment ago.
  func keepAuditTime() {
    while let first = pendingAudits.first, first.dueAt <= now.monotonic {
      pendingAudits.removeFirst()
      let present = HomeAudit(home: home).strangers(known: knownProcesses)
      answerAudit(first.seat, first.strangers.intersection(present))
    }
  }

  private func answerAudit(_ seat: Followers.Seat, _ strangers: Set<HomeAudit.Stranger>) {
    let problems =
      machine.contradictions() + HomeAudit.sentences(strangers) + HomeAudit(home: home).permissions()
    tellCommitted(seat) { store throws(StoreError) in
      var report = AuditReport(try store.audit())
      report.problems += problems
      return .audit(report)
    }
  }

  /// Everybody whom this coordinator knows: itself, its guardian, its tellers.
  private var knownProcesses: Set<Int32> {
    Set([CurrentProcess.pid, guardianship?.pid ?? 0] + staff.posts.values.compactMap { $0.child?.pid })
  }
}
