// Owns `reset`: says whom it throws out, asks at a terminal, and has it done once.
// Invariant: what was agreed to is the day that was looked at: where it has passed meanwhile nothing is emptied unasked,
// and a reset that is repeated after a lost connection empties no second day.
// Failure: CommandError; exit code 1 where the answer was no, 5 where somebody else was quicker.
import Wire

enum ResetCommand {
  /// How often it is begun anew where others reset the bank at the same time.
  private static let attempts = 5

  static func run(_ session: Session) throws(CommandError) -> ProgramExit {
    let isAsked = session.isAtTerminal && !session.invocation.flag("yes")
    for _ in 1...attempts {
      let before = try CoordinatorClient.picture(session)
      let everyone = before.queue.waiting + before.queue.serving + before.queue.delayed + before.queue.dead
      if isAsked, everyone > 0, try !session.confirm(session.words.askReset(before)) {
        session.note(session.words.nothingChanged)
        return .failed
      }
      guard let report = try reset(before.day, session) else { continue }
      try session.show(
        JSONValue.status(report).adding(["cancelled": .init(report.cancelledByReset ?? 0)]),
        or: [session.words.reset(report)])
      return .done
    }
    let message = session.words.resetByAnother(try CoordinatorClient.picture(session))
    throw .complaint(as: .wrongState, message)
  }

  /// Resets the bank on this day; nil where that day is over, and not by this.
  private static func reset(_ day: Int64, _ session: Session) throws(CommandError) -> StatusReport? {
    var isRepeated = false
    return try CoordinatorClient.converse(session) { coordinator throws(CommandError) in
      let wasRepeated = isRepeated
      isRepeated = true
      let task = TaskProgress(.reset, session.words, asksHowFar: true)
      do throws(CommandError) { return try coordinator.status(.reset(day: day), within: nil, task) } catch {
        guard case .failure(let failure) = error, failure.code == .wrongState else { throw error }
        // The first time it was done, and the answer was lost.
        return wasRepeated ? try coordinator.status(.status) : nil
      }
    }
  }
}
