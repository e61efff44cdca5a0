// Owns the reasons why something could not be measured, and the turning of others' errors into them.
// It must not know any measurement. A figure below its target is no failure: it is what a bench is for.

import ControlClient
import Posix

/// Why a measurement could not be made.
enum BenchFailure: Error, CustomStringConvertible {
  case control(ControlError)
  case system(SystemError)
  /// Something answered otherwise than it must.
  case surprise(String)

  var description: String {
    switch self {
    case .control(let error): error.description
    case .system(let error): error.description
    case .surprise(let words): words
    }
  }

  /// Runs a conversation with the coordinator.
  static func control<T: ~Copyable>(_ body: () throws(ControlError) -> T) throws(BenchFailure) -> T {
    do throws(ControlError) { return try body() } catch { throw .control(error) }
  }

  /// Runs a system call.
  static func system<T: ~Copyable>(_ body: () throws(SystemError) -> T) throws(BenchFailure) -> T {
    do throws(SystemError) { return try body() } catch { throw .system(error) }
  }
}
