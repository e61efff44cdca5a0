// Owns the words of the command line of the simulator. It must not know what a history is.
// Invariant: what is read is in range. A word that means nothing is refused with what would mean something.

import Simulator

/// What the simulator was asked to do.
struct SimulateOptions: Equatable {
  /// The seeds from here on.
  var from: UInt64 = 1
  /// How many histories.
  var seeds: UInt64 = 200
  /// Replay this one.
  var seed: UInt64?
  /// What is wrong on purpose.
  var bug: PlantedBug?
  /// Print every event of the replayed history.
  var isTraced = false
  /// Print JSON.
  var isJSON = false
  /// How many histories at a time; 0 for one on each processor.
  var jobs = 0

  /// Why the words mean nothing.
  struct Misuse: Error, Equatable {
    let words: String
  }

  init() {}

  init(_ words: [String]) throws(Misuse) {
    var rest = words[...]
    while let word = rest.popFirst() {
      let name: String
      var value: String?
      if let equals = word.firstIndex(of: "="), word.hasPrefix("--") {
        name = String(word[..<equals])
        value = String(word[word.index(after: equals)...])
      } else {
        name = word
      }
      switch name {
      case "--trace", "--json":
        guard value == nil else { throw Misuse(words: "\(name) takes no value") }
        if name == "--trace" { isTraced = true } else { isJSON = true }
      case "--bug":
        guard let text = value ?? rest.popFirst(), let found = PlantedBug(rawValue: text) else {
          let names = PlantedBug.allCases.map(\.rawValue).joined(separator: ", ")
          throw Misuse(words: "--bug takes one of \(names)")
        }
        bug = found
      case "--seeds", "--from", "--seed", "--jobs":
        guard let text = value ?? rest.popFirst(), let number = UInt64(text) else {
          throw Misuse(words: "\(name) takes a whole number")
        }
        try set(name, number)
      default: throw Misuse(words: "no such option: \(word)")
      }
    }
    if isTraced, seed == nil { throw Misuse(words: "--trace is for one history: name it with --seed") }
  }

  private mutating func set(_ name: String, _ number: UInt64) throws(Misuse) {
    switch name {
    case "--seed": seed = number
    case "--from": from = number
    case "--jobs":
      guard 1...256 ~= number else { throw Misuse(words: "--jobs takes 1 to 256") }
      jobs = Int(number)
    default:
      guard 1...1_000_000_000 ~= number else { throw Misuse(words: "--seeds takes 1 to 1000000000") }
      seeds = number
    }
  }
}
