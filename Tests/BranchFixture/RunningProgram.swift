// One program that a test has started: its output, its end, and the certainty that it does not outlive the test.
// Output goes into files, so that a program which writes much never waits for a test which reads later. A program
// that does not end in time is killed with everything in its process group, and the test fails.
import Foundation
import Glibc
import Testing

/// How a program ended and what it said.
public struct Outcome: Sendable, CustomStringConvertible {
  public let words: [String]
  /// The exit code; 128 and the signal where it was ended by one.
  public let code: Int32
  public let out: String
  public let err: String

  /// Standard error without the lines that say how far something has come, of which a busy machine sees some.
  public var complaints: String {
    err.split(separator: "\n", omittingEmptySubsequences: false).filter { line in
      line.firstMatch(of: #/^[^.:]+ (· \d+|\d{1,3}% \d)/#) == nil
    }.joined(separator: "\n")
  }

  public var outLines: [String] { out.split(separator: "\n").map(String.init) }
  public var lastLine: String { outLines.last ?? "" }

  public func json() throws -> JSON { try JSON(parsing: out) }

  public var description: String {
    "`\(words.joined(separator: " "))` ended with \(code)\nout: \(out)\nerr: \(err)"
  }
  /// For the comment of an expectation.
  public var story: Comment { "\(description)" }
}

public final class RunningProgram {
  public let pid: pid_t
  private let words: [String]
  private let files: String
  private var ended: Int32?

  /// - Parameters:
  ///   - files: Where standard input, output and error of this program lie, with `.in`, `.out`, `.err` appended.
  ///   - input: What it reads, or a descriptor to read from.
  public init(
    _ words: [String], environment: [String: String], files: String, input: String = "",
    inputDescriptor: Int32? = nil
  ) throws {
    self.words = words
    self.files = files
    try Data(input.utf8).write(to: URL(fileURLWithPath: files + ".in"))
    var actions = posix_spawn_file_actions_t()
    posix_spawn_file_actions_init(&actions)
    defer { posix_spawn_file_actions_destroy(&actions) }
    if let inputDescriptor {
      posix_spawn_file_actions_adddup2(&actions, inputDescriptor, 0)
    } else {
      posix_spawn_file_actions_addopen(&actions, 0, files + ".in", O_RDONLY, 0)
    }
    posix_spawn_file_actions_addopen(&actions, 1, files + ".out", O_WRONLY | O_CREAT | O_TRUNC, 0o600)
    posix_spawn_file_actions_addopen(&actions, 2, files + ".err", O_WRONLY | O_CREAT | O_TRUNC, 0o600)
    var attributes = posix_spawnattr_t()
    posix_spawnattr_init(&attributes)
    defer { posix_spawnattr_destroy(&attributes) }
    var all = sigset_t()
    sigfillset(&all)
    var none = sigset_t()
    sigemptyset(&none)
    posix_spawnattr_setsigdefault(&attributes, &all)
    posix_spawnattr_setsigmask(&attributes, &none)
    posix_spawnattr_setpgroup(&attributes, 0)
    posix_spawnattr_setflags(
      &attributes, Int16(POSIX_SPAWN_SETPGROUP | POSIX_SPAWN_SETSIGDEF | POSIX_SPAWN_SETSIGMASK))
    var arguments: [UnsafeMutablePointer<CChar>?] = words.map { strdup($0) } + [nil]
    var variables: [UnsafeMutablePointer<CChar>?] = environment.map { strdup("\($0)=\($1)") } + [nil]
    defer { (arguments + variables).forEach { free($0) } }
    var started: pid_t = 0
    let error = posix_spawn(&started, words[0], &actions, &attributes, &arguments, &variables)
    guard error == 0 else {
      throw Trouble("cannot start \(words[0]): \(String(cString: strerror(error))); was it built?")
    }
    pid = started
  }

  deinit { end() }

  /// What it has written to standard output so far, up to the last whole line.
  public var lines: [String] {
    let text = Self.text(files + ".out")
    return text.split(separator: "\n", omittingEmptySubsequences: false).dropLast().map(String.init)
  }

  /// What it has written to standard error so far.
  public var errors: String { Self.text(files + ".err") }

  public var isRunning: Bool { exitCode() == nil }

  public func signal(_ number: Int32) { if isRunning { kill(pid, number) } }

  /// Waits for its end.
  public func finish(within limit: Duration = .seconds(30), at location: SourceLocation = #_sourceLocation)
    throws
    -> Outcome
  {
    let deadline = ContinuousClock.now + Patience.stretched(limit)
    while true {
      if let code = exitCode() { return outcome(code) }
      guard ContinuousClock.now < deadline else { break }
      Moment.pass(milliseconds: 1)
    }
    end()
    throw Trouble("still running after \(limit): \(outcome(-1))", at: location)
  }

  /// Kills it and what it has started in its process group.
  public func end() {
    guard isRunning else { return }
    kill(-pid, SIGKILL)
    kill(pid, SIGKILL)
    let deadline = ContinuousClock.now + Patience.stretched(.seconds(5))
    while isRunning {
      guard ContinuousClock.now < deadline else {
        Issue.record("it outlives SIGKILL: \(outcome(-1))")
        return
      }
      Moment.pass(milliseconds: 1)
    }
  }

  private func exitCode() -> Int32? {
    if let ended { return ended }
    var status: Int32 = 0
    guard waitpid(pid, &status, WNOHANG) == pid else { return nil }
    ended = status & 0x7F == 0 ? (status >> 8) & 0xFF : 128 + status & 0x7F
    return ended
  }

  private func outcome(_ code: Int32) -> Outcome {
    Outcome(words: words, code: code, out: Self.text(files + ".out"), err: Self.text(files + ".err"))
  }

  private static func text(_ path: String) -> String {
    String(decoding: (try? Data(contentsOf: URL(fileURLWithPath: path))) ?? Data(), as: UTF8.self)
  }
}

/// A pause between two looks at a condition.
public enum Moment {
  public static func pass(milliseconds: Int32) { _ = poll(nil, 0, milliseconds) }
}
