// Owns the reason why something could not be measured because it answered otherwise than it must. Errors of the system and of
// the client's library are told as they are. A figure below its target is no failure: it is what a bench is for.

struct BenchFailure: Error, CustomStringConvertible {
  let description: String

  init(_ description: String) { self.description = description }
}
