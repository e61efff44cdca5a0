// Owns a command line as what a customer carries: its words, its directory and its environment, as one JSON object.
// Invariant: a runner that reads it starts what would have been started here: nothing is added, and no shell reads any of it.

import Posix

struct CommandLinePayload {
  /// The program and its words.
  var words: [String]
  /// Where it starts.
  var directory: String
  /// Its whole environment, without what this bank says of itself.
  var environment: [String: String]
  /// Whether a client waits for its end, and ends with its code.
  var isWaited = false

  /// - Throws: where the present directory is gone.
  init(_ words: [String], _ environment: [String: String]) throws(SystemError) {
    self.words = words
    directory = try Directory.current()
    self.environment = environment.filter { !$0.key.hasPrefix("BANK_") }
  }

  /// `{"command":["make","all"],"directory":"/src","environment":{"PATH":"/bin"}}`
  var bytes: [UInt8] {
    let shape: JSONValue = [
      "command": .array(words.map { .string($0) }), "directory": .string(directory),
      "environment": .object(
        environment.sorted { $0.key < $1.key }.map { JSONValue.Field(name: $0.key, value: .string($0.value)) }
      ),
    ]
    var bytes: [UInt8] = []
    (isWaited ? shape.adding(["waited": .init(true)]) : shape).append(to: &bytes)
    return bytes
  }
}
