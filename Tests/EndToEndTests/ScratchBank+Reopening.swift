// Reopening of a bank whose coordinator has exited, by the test or by the guardian.
import Testing

extension ScratchBank {
  /// Opens the bank unless the guardian already has, and returns when it answers.
  func reopen(_ arguments: String..., at location: SourceLocation = #_sourceLocation) throws {
    var last: Outcome?
    do {
      try waitUntil("the bank is open again", at: location) {
        let outcome = try launch(["start"] + arguments).finish(at: location)
        last = outcome
        guard outcome.code == 0 || outcome.code == 5 else { return false }
        return try run("status", at: location).code == 0
      }
    } catch {
      throw TestFailure("\(error)\nThe last attempt: \(last?.story ?? "none")", at: location)
    }
    #expect(last?.code == 0 || last?.code == 5, last?.story ?? "", sourceLocation: location)
  }
}
