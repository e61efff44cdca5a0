// Behaviour of commands and workers in a chaos run, and the result of their work. Both depend only on the payload
// and the attempt, so that the results are known in advance.
// Invariant: from the third attempt on the work ends well and violates no protocol, so no customer becomes a dead
// letter by bad behaviour alone.
import BankModel

/// What a command or a worker of a chaos run does in one attempt, drawn from the payload and the attempt's number.
struct WorkerBehaviour: Sendable, Equatable {
  /// How the attempt ends.
  enum End: Sendable, Equatable {
    case well
    /// Deferred: exit code 75, or `returned`.
    case later
    case fails
    /// Kills itself by a signal, or disconnects in the middle of the work.
    case crashes
    /// A command does not exit by itself. A worker is silent for longer than its lease.
    case hangs
  }

  /// Process that a command leaves behind: none, a child, or a grandchild.
  enum Descendant: Sendable, Equatable {
    case none
    /// A child in a session of its own.
    case child
    /// A grandchild in a session of its own, whose parent has exited.
    case daemon
  }

  /// How a worker violates the protocol in an attempt, if it does: it answers twice, answers for another customer, or
  /// disconnects.
  enum ProtocolViolation: Sendable, Equatable { case none, answersTwice, answersForAnother, breaksOff }

  let end: End
  /// Duration of the work.
  let milliseconds: Int32
  let descendant: Descendant
  /// True if the descendant starts with an empty environment.
  let clearsEnvironment: Bool
  /// True if the descendant keeps standard output and standard error open.
  let keepsPipe: Bool
  /// True if the command ignores SIGTERM.
  let ignoresTerm: Bool
  let protocolViolation: ProtocolViolation

  /// Draws the behaviour of this attempt from the payload.
  init(_ payload: [UInt8], attempt: Int32) {
    var chance = SeededGenerator(
      seed: Self.digest(payload) &+ UInt64(UInt32(bitPattern: attempt)) &* 0x9E37_79B9_7F4A_7C15)
    let (luck, manners) = (chance.draw(1...40), chance.draw(1...40))
    milliseconds = Int32(chance.draw(1...10) == 1 ? chance.draw(100...400) : chance.draw(0...20))
    ignoresTerm = chance.draw(1...4) == 1
    let leftoverProcesses = chance.draw(1...6)
    keepsPipe = chance.draw(1...8) == 1
    clearsEnvironment = chance.draw(1...2) == 1
    descendant = leftoverProcesses == 1 ? .daemon : leftoverProcesses == 2 ? .child : .none
    guard attempt <= 2 else {
      (end, protocolViolation) = (.well, .none)
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
    protocolViolation =
      switch manners {
      case 1: .answersTwice
      case 2: .answersForAnother
      case 3: .breaksOff
      default: .none
      }
  }

  /// Hash of the bytes (FNV-1a, 64 bits), by which payloads are compared.
  static func digest(_ bytes: [UInt8]) -> UInt64 {
    bytes.reduce(0xCBF2_9CE4_8422_2325) { ($0 ^ UInt64($1)) &* 0x100_0000_01B3 }
  }

  /// The result of a payload in any attempt: the payload itself, and its digest.
  static func result(of payload: [UInt8]) -> [UInt8] {
    payload + Array("\n\(String(digest(payload), radix: 16))\n".utf8)
  }
}
