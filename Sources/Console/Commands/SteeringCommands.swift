// Commands that change an open bank at once and return its status: pause, resume, scale, reload.
// Invariant: the output is the state after the change.
import BankModel
import Wire

enum SteeringCommands {
  static func pause(_ session: Session) throws(CommandError) {
    let service = try service(session)
    try steer(.pause(service), session, session.words.paused(service))
  }

  static func resume(_ session: Session) throws(CommandError) {
    let service = try service(session)
    try steer(.resume(service), session, session.words.resumed(service))
  }

  private static func service(_ session: Session) throws(CommandError) -> ServiceName? {
    guard let name = session.invocation.operands.text("SERVICE") else { return nil }
    return try session.service(named: name)
  }

  private static func steer(
    _ command: ControlCommand, _ session: Session, _ sentence: String
  ) throws(CommandError) {
    let report = try CoordinatorClient.converse(session) { coordinator throws(CommandError) in
      try coordinator.status(command, TaskProgress(.steer, session.words))
    }
    try session.show(.status(report), or: [sentence])
  }

  static func scale(_ session: Session) throws(CommandError) {
    var windows: [ServiceWindows] = []
    for assignment in session.invocation.operands.assignments("SERVICE=N") {
      let service = try session.service(named: assignment.name)
      guard !windows.contains(where: { $0.service == service }) else {
        throw .usage(session.words.namedTwice(service))
      }
      windows.append(ServiceWindows(service: service, count: assignment.number))
    }
    // No timeout: a closing window finishes its customer first, however long that takes.
    let report = try CoordinatorClient.converse(session) { coordinator throws(CommandError) in
      try coordinator.status(.scale(windows), within: nil, TaskProgress(.scale, session.words))
    }
    try session.show(.status(report), or: [session.words.windows(report)])
  }

  static func reload(_ session: Session) throws(CommandError) {
    let (before, report) = try CoordinatorClient.converse(session) { coordinator throws(CommandError) in
      (
        try coordinator.status(.status),
        try coordinator.status(.reload, within: nil, TaskProgress(.reload, session.words))
      )
    }
    try session.show(.status(report), or: [session.words.reloaded, session.words.windows(report)])
    tell(before, report, session)
  }

  /// Prints a note for every database that the bank now uses in spite of a mismatch, and for every worker
  /// that is not working, as `start` does.
  static func tell(_ before: StatusReport, _ after: StatusReport, _ session: Session) {
    for worker in before.workers where worker.mismatch?.isProblem == true {
      let now = after.workers.first { $0.name == worker.name }
      if now?.mismatch == nil, let sentence = session.words.goesOn(with: worker) { session.note(sentence) }
    }
    StartCommand.tellTroubles(after, session)
  }
}
