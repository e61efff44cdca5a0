// Commands that change an open bank and receive its status:
// pause, resume, scale, reload.
import BankModel
import Wire

/// Implementations of `bankctl pause`, `resume`, `scale` and `reload`.
enum ControlCommands {
  /// Pauses a service, or all services.
  static func pause(_ session: Session) throws(CommandError) {
    let service = try service(session)
    try sendControl(.pause(service), session, session.messages.paused(service))
  }

  /// Resumes a paused service, or all services.
  static func resume(_ session: Session) throws(CommandError) {
    let service = try service(session)
    try sendControl(.resume(service), session, session.messages.resumed(service))
  }

  /// The service of the operand; nil for all services.
  private static func service(_ session: Session) throws(CommandError) -> ServiceName? {
    guard let name = session.invocation.operands.text("SERVICE") else { return nil }
    return try session.service(named: name)
  }

  /// Sends a request, and prints `sentence` after success, or the status as JSON.
  private static func sendControl(
    _ command: ControlCommand, _ session: Session, _ sentence: String
  ) throws(CommandError) {
    let report = try CoordinatorClient.withOpenBank(session) { coordinator throws(CommandError) in
      try coordinator.status(command, TaskProgress(.sendControl, session.messages))
    }
    try session.show(.status(report), or: [sentence])
  }

  /// Sets the numbers of windows, and waits until the change has taken effect.
  static func scale(_ session: Session) throws(CommandError) {
    var windows: [ServiceWindows] = []
    for assignment in session.invocation.operands.assignments("SERVICE=N") {
      let service = try session.service(named: assignment.name)
      guard !windows.contains(where: { $0.service == service }) else {
        throw .usage(session.messages.namedTwice(service))
      }
      windows.append(ServiceWindows(service: service, count: assignment.number))
    }
    // No timeout: a closing window finishes its customer first, however long that takes.
    let report = try CoordinatorClient.withOpenBank(session) { coordinator throws(CommandError) in
      try coordinator.status(.scale(windows), within: nil, TaskProgress(.scale, session.messages))
    }
    try session.show(.status(report), or: [session.messages.windows(report)])
  }

  /// Makes the bank read its configuration again, and waits until the windows are changed.
  static func reload(_ session: Session) throws(CommandError) {
    let (before, report) = try CoordinatorClient.withOpenBank(session) { coordinator throws(CommandError) in
      (
        try coordinator.status(.status),
        try coordinator.status(.reload, within: nil, TaskProgress(.reload, session.messages))
      )
    }
    try session.show(.status(report), or: [session.messages.reloaded, session.messages.windows(report)])
    printProblems(before, report, session)
  }

  /// Prints a note for each database that the bank now uses in spite of a mismatch, and for each worker that is not
  /// working.
  static func printProblems(_ before: StatusReport, _ after: StatusReport, _ session: Session) {
    for worker in before.workers where worker.mismatch?.isProblem == true {
      let now = after.workers.first { $0.name == worker.name }
      if now?.mismatch == nil, let sentence = session.messages.acceptedMismatch(with: worker) {
        session.note(sentence)
      }
    }
    StartCommand.reportProblems(after, session)
  }
}
