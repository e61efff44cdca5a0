// Owns what the coordinator is told when it is started: the words on its command line. People never type them;
// bankctl does. It knows nothing of what follows from them.

import BankModel
import Wire

/// The coordinator's command line: `bankd --home DIR [--config FILE] [--lang ko|en] [--deposit N] [--loan N]
/// [--speed X]`, `bankd --inspect --home DIR`, or `bankd --count PID --home DIR`. A guardian adds `--guardian PID` and hands the home's lock on as
/// descriptor 4; `--recover` after a crash; `--occupied PID`, `--inspected` or `--unusable REASON` where there can be no bank. A bank in
/// the foreground of its client is opened with `--opener PID`.
public struct CoordinatorOptions: Sendable, Equatable {
  /// The home, absolute.
  public var home = ""
  /// The configuration; nil for the built-in one.
  public var config: String?
  /// The language of the logs; nil for what the configuration says.
  public var language: Language?
  /// Windows that the caller asked for, instead of those in the configuration.
  public var windows: [Service: Int64] = [:]
  /// The speed that the caller asked for.
  public var speed: String?
  /// Only answer questions about a bank that is not open, on descriptor 3.
  public var isInspection = false
  /// Only count the rows of the database as it lies, for this coordinator, and tell what was found on descriptor 3.
  public var countsFor: Int32?
  /// The process that restarts this one when it dies; nil where nobody does.
  public var guardian: Int32?
  /// The process without which there shall be no bank: whoever opened one in its foreground.
  public var opener: Int32?
  /// The coordinator before this one has died: the windows are those it had.
  public var isRecovery = false
  /// Why there can be no bank, as far as the guardian has found out.
  public var obstacle: Obstacle?
  /// The words that every coordinator of this bank is started with.
  public var lasting: [String] = []

  /// What a guardian has found in the way.
  public enum Obstacle: Sendable, Equatable {
    /// Another process has the home.
    case occupied(by: String)
    /// Somebody has been looking into the closed bank for long.
    case inspected
    /// The home cannot be used.
    case unusable(String)
  }

  /// Reads the words behind the program's name.
  public init(_ arguments: [String]) throws(Failure) {
    var words = arguments[...]
    while let word = words.popFirst() {
      if word == "--inspect" {
        isInspection = true
        continue
      }
      if word == "--recover" {
        isRecovery = true
        continue
      }
      if word == "--inspected" {
        obstacle = .inspected
        continue
      }
      guard let value = words.popFirst() else {
        throw Failure(.badRequest, subject: word, detail: "the option has no value")
      }
      try take(word, value)
    }
    guard home.hasPrefix("/") else {
      throw Failure(
        .badRequest, subject: "--home", detail: "an absolute path is needed; start the bank with bankctl")
    }
  }

  private mutating func take(_ option: String, _ value: String) throws(Failure) {
    switch option {
    case "--guardian":
      guardian = try Self.process(option, value)
      return
    case "--count":
      countsFor = try Self.process(option, value)
      return
    case "--opener":
      opener = try Self.process(option, value)
      return
    case "--occupied":
      obstacle = .occupied(by: value)
      return
    case "--unusable":
      obstacle = .unusable(value)
      return
    case "--home": home = value
    case "--config": config = value
    case "--lang":
      guard let chosen = Language(code: value) else {
        throw Failure(.badRequest, subject: option, detail: "ko or en, not \(value)")
      }
      language = chosen
    case "--speed": speed = value
    default:
      guard option.hasPrefix("--"), let service = Service(name: option.dropFirst(2)) else {
        throw Failure(.badRequest, subject: option, detail: "the coordinator has no such option")
      }
      guard let count = Int64(value), (0...Limits.windowsPerService).contains(count) else {
        throw Failure(.badRequest, subject: option, detail: "0 to \(Limits.windowsPerService), not \(value)")
      }
      windows[service] = count
    }
    lasting += [option, value]
  }

  private static func process(_ option: String, _ value: String) throws(Failure) -> Int32 {
    guard let pid = Int32(value), pid > 0 else {
      throw Failure(.badRequest, subject: option, detail: "a process, not \(value)")
    }
    return pid
  }
}
