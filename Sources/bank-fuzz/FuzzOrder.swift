// Owns the words of the command line: `SCRATCH [--for DURATION] [--seed N]`. It must not know what is done with them.
// Invariant: what is read is in range; a word that means nothing is refused.
// Failure: Misuse, with the sentence for the person.

import Arguments
import Posix

/// What the program was asked to do.
struct FuzzOrder {
  /// The directory for the bank and for what was found; absolute.
  let scratch: String
  /// How long.
  private(set) var span = Duration.seconds(60)
  /// What decides every attack.
  private(set) var seed = RandomSeed.fromSystem() >> 32

  /// Why the words mean nothing.
  struct Misuse: Error {
    let words: String
  }

  init(_ words: [String]) throws(Misuse) {
    var rest = words[...]
    guard let scratch = rest.popFirst(), scratch.hasPrefix("/") else {
      throw Misuse(words: "run scripts/fuzz --socket")
    }
    self.scratch = scratch
    while let word = rest.popFirst() {
      let parts = word.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false).map(String.init)
      guard let value = parts.count == 2 ? parts[1] : rest.popFirst() else {
        throw Misuse(words: "\(word) takes a value")
      }
      switch parts[0] {
      case "--for":
        do throws(DurationText.Failure) {
          span = .nanoseconds(try DurationText.parse(value))
        } catch {
          throw Misuse(words: "--for takes a duration such as 60s: \(error.advice(in: .english))")
        }
      case "--seed":
        guard let number = UInt64(value) else { throw Misuse(words: "--seed takes a whole number") }
        seed = number
      default: throw Misuse(words: "no such option: \(word)")
      }
    }
    guard .seconds(1)...(.seconds(86_400)) ~= span else { throw Misuse(words: "--for takes 1s to 24h") }
  }
}
