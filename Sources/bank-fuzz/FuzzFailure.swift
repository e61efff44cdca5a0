// Owns what can go wrong while a coordinator is fuzzed, in words for whoever looks for the reason.
// It must not know how it was found out.

import ControlClient
import Posix

/// Why the run has failed.
enum FuzzFailure: Error, CustomStringConvertible {
  /// The coordinator has ended, and how.
  case coordinatorEnded(String)
  /// It is still there, and something about it is wrong.
  case harmed(String)
  /// The normal client was not served as it must be.
  case unserved(String)
  /// It could not even be tried.
  case system(SystemError)
  /// The same.
  case control(ControlError)

  var description: String {
    switch self {
    case .coordinatorEnded(let how): "the coordinator has ended: \(how)"
    case .harmed(let what): "the coordinator was harmed: \(what)"
    case .unserved(let what): "a normal client was not served: \(what)"
    case .system(let error): error.description
    case .control(let error): "\(error)"
    }
  }

  /// The same failure, with what was noticed before it.
  func behind(_ first: FuzzFailure) -> FuzzFailure {
    guard case .coordinatorEnded(let how) = self else { return self }
    if case .coordinatorEnded = first { return first }
    return .coordinatorEnded("\(how)\nwhat was noticed before: \(first)")
  }

  /// Gives an error of the client's library its place here.
  static func control<T: ~Copyable>(_ body: () throws(ControlError) -> T) throws(FuzzFailure) -> T {
    do throws(ControlError) { return try body() } catch { throw .control(error) }
  }

  /// Gives an error of the system its place here.
  static func system<T: ~Copyable>(_ body: () throws(SystemError) -> T) throws(FuzzFailure) -> T {
    do throws(SystemError) { return try body() } catch { throw .system(error) }
  }
}
