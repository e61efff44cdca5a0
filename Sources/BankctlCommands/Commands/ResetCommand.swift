// `reset`: shows the number of affected customers, asks for confirmation on a terminal, and resets the bank
// once.
// Invariant: the confirmation on a terminal is for the day that was shown. If that day has ended meanwhile, no
// customer is cancelled without another confirmation. A reset repeated after a lost connection does not reset a
// second day.
// Errors: `CommandError`; exit code 1 if the user declined, 5 if the day ended before each of the requests.
import Wire

/// Implementation of `bankctl reset`.
enum ResetCommand {
  /// Maximum number of requests while other clients reset the bank at the same time.
  private static let attempts = 5

  /// Asks for confirmation on a terminal and resets the bank. Returns the exit code.
  static func run(_ session: Session) throws(CommandError) -> ProgramExit {
    let isAsked = session.isAtTerminal && !session.invocation.flag("yes")
    for _ in 1...attempts {
      let before = try CoordinatorClient.picture(session)
      let everyone = before.queue.waiting + before.queue.serving + before.queue.delayed + before.queue.dead
      if isAsked, everyone > 0, try !session.confirm(session.messages.askReset(before)) {
        session.note(session.messages.nothingChanged)
        return .failed
      }
      guard let report = try reset(before.day, session) else { continue }
      try session.show(
        JSONValue.status(report).adding(["cancelled": .init(report.cancelledByReset ?? 0)]),
        or: [session.messages.reset(report)])
      return .done
    }
    let message = session.messages.resetByAnother(try CoordinatorClient.picture(session))
    throw .commandFailure(as: .wrongState, message)
  }

  /// Resets the bank if this is still its business day, and returns its status; nil if the day has ended for another
  /// reason.
  private static func reset(_ day: Int64, _ session: Session) throws(CommandError) -> StatusReport? {
    var isRepeated = false
    return try CoordinatorClient.withOpenBank(session) { coordinator throws(CommandError) in
      let wasRepeated = isRepeated
      isRepeated = true
      let task = TaskProgress(.reset, session.messages, withProgress: true)
      do throws(CommandError) { return try coordinator.status(.reset(day: day), within: nil, task) } catch {
        guard case .failure(let failure) = error, failure.code == .wrongState else { throw error }
        // A repeated request is refused if the first one has succeeded and its answer was lost.
        return wasRepeated ? try coordinator.status(.status) : nil
      }
    }
  }
}
