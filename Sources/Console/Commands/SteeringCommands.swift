// Owns the commands that change something at once and answer with the picture of the bank: pause, resume,
// scale, reload. They must not know how the change is made.
// Invariant: what is printed is the state after the change.
import Arguments
import BankModel
import ControlClient
import Wire

enum PauseCommand {
  static func pause(_ session: Session) throws(CommandError) -> ProgramExit {
    let service = try service(session)
    let report = try CoordinatorClient.converse(session) { coordinator throws(CommandError) in
      try coordinator.status(.pause(service), TaskProgress(.steer, session.words))
    }
    try session.show(.status(report), or: [session.words.paused(service)])
    return .done
  }

  static func resume(_ session: Session) throws(CommandError) -> ProgramExit {
    let service = try service(session)
    let report = try CoordinatorClient.converse(session) { coordinator throws(CommandError) in
      try coordinator.status(.resume(service), TaskProgress(.steer, session.words))
    }
    try session.show(.status(report), or: [session.words.resumed(service)])
    return .done
  }

  private static func service(_ session: Session) throws(CommandError) -> Service? {
    guard let name = session.invocation.operands.text("SERVICE") else { return nil }
    return try session.service(named: name)
  }
}

enum ScaleCommand {
  static func run(_ session: Session) throws(CommandError) -> ProgramExit {
    var windows: [ServiceWindows] = []
    for assignment in session.invocation.operands.assignments("SERVICE=N") {
      let service = try session.service(named: assignment.name)
      guard !windows.contains(where: { $0.service == service }) else {
        throw .usage(session.words.namedTwice(service))
      }
      windows.append(ServiceWindows(service: service, count: assignment.number))
    }
    // A closing window finishes its customer first, however long that takes.
    let report = try CoordinatorClient.converse(session) { coordinator throws(CommandError) in
      try coordinator.status(.scale(windows), within: nil, TaskProgress(.scale, session.words))
    }
    try session.show(.status(report), or: [session.words.windows(report)])
    return .done
  }
}

enum ReloadCommand {
  static func run(_ session: Session) throws(CommandError) -> ProgramExit {
    let (before, report) = try CoordinatorClient.converse(session) { coordinator throws(CommandError) in
      (
        try coordinator.status(.status),
        try coordinator.status(.reload, within: nil, TaskProgress(.reload, session.words))
      )
    }
    try session.show(.status(report), or: [session.words.reloaded, session.words.windows(report)])
    tell(before, report, session)
    return .done
  }

  /// Says with which databases the bank goes on because of this, though something is wrong with them, and who does not
  /// work, as a start does.
  static func tell(_ before: StatusReport, _ after: StatusReport, _ session: Session) {
    for worker in before.workers where worker.mismatch?.isProblem == true {
      let now = after.workers.first { $0.name == worker.name }
      if now?.mismatch == nil, let sentence = session.words.goesOn(with: worker) { session.note(sentence) }
    }
    StartCommand.tellTroubles(after, session)
  }
}
