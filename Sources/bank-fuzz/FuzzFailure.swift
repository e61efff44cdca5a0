// Owns what can go wrong while a coordinator is fuzzed, in words for whoever looks for the reason. What could not even be
// tried is an error of the system or of the client's library, and is told as it is.

enum FuzzFailure: Error, CustomStringConvertible {
  case coordinatorEnded(String)
  case harmed(String)
  case unserved(String)

  var description: String {
    switch self {
    case .coordinatorEnded(let how): "the coordinator has ended: \(how)"
    case .harmed(let what): "the coordinator was harmed: \(what)"
    case .unserved(let what): "a normal client was not served: \(what)"
    }
  }

  /// The same failure, with what was noticed before it.
  func behind(_ first: any Error) -> any Error {
    guard case .coordinatorEnded(let how) = self else { return self }
    if case FuzzFailure.coordinatorEnded = first { return first }
    return FuzzFailure.coordinatorEnded("\(how)\nwhat was noticed before: \(first)")
  }
}
