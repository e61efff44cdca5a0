// Owns how whoever serves a customer of a chaos run behaves, and what comes of the work: both are decided by the payload
// and the attempt alone, so that the same seed brings the same trouble, and the account knows every result beforehand.
// Invariant: from the third attempt on everybody behaves well, so nobody is put aside by misconduct alone.
import BankModel

/// What one attempt at one customer does.
struct WorkConduct: Sendable, Equatable {
  enum End: Sendable, Equatable {
    case well
    /// Not now: exit code 75, or `returned`.
    case later
    case fails
    /// Killed by its own signal, or gone in the middle of the work.
    case crashes
    /// No end at all, whatever is asked of it.
    case hangs
  }

  /// What is left behind by whoever ends.
  enum Descendant: Sendable, Equatable {
    case none
    /// A child in a session of its own.
    case child
    /// A grandchild in a session of its own, whose parent has ended.
    case daemon
  }

  /// How a worker breaks the rules of the conversation.
  enum Breach: Sendable, Equatable { case none, answersTwice, answersForAnother, breaksOff }

  let end: End
  let milliseconds: Int32
  let descendant: Descendant
  /// Whether the descendant starts with an empty environment.
  let clearsEnvironment: Bool
  /// Whether the descendant holds the standard output open.
  let keepsPipe: Bool
  let ignoresTerm: Bool
  let breach: Breach

  init(_ payload: [UInt8], attempt: Int32) {
    var chance = SeededGenerator(
      seed: Self.digest(payload) &+ UInt64(UInt32(bitPattern: attempt)) &* 0x9E37_79B9_7F4A_7C15)
    let (luck, manners) = (chance.draw(1...40), chance.draw(1...40))
    milliseconds = Int32(chance.draw(1...10) == 1 ? chance.draw(100...400) : chance.draw(0...20))
    ignoresTerm = chance.draw(1...4) == 1
    let left = chance.draw(1...6)
    keepsPipe = chance.draw(1...8) == 1
    clearsEnvironment = chance.draw(1...2) == 1
    descendant = left == 1 ? .daemon : left == 2 ? .child : .none
    guard attempt <= 2 else {
      (end, breach) = (.well, .none)
      return
    }
    end =
      switch luck {
      case 1, 2: .later
      case 3, 4: .fails
      case 5, 6: .crashes
      case 7: .hangs
      default: .well
      }
    breach =
      switch manners {
      case 1: .answersTwice
      case 2: .answersForAnother
      case 3: .breaksOff
      default: .none
      }
  }

  /// FNV-1a, 64 bits.
  static func digest(_ bytes: [UInt8]) -> UInt64 {
    bytes.reduce(0xCBF2_9CE4_8422_2325) { ($0 ^ UInt64($1)) &* 0x100_0000_01B3 }
  }

  /// What comes of a payload, whoever serves it and however often: the payload itself, and its digest.
  static func result(of payload: [UInt8]) -> [UInt8] {
    payload + Array("\n\(String(digest(payload), radix: 16))\n".utf8)
  }
}
