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
  private let words: [String]
  private let files: String
  private var process: StartedProcess
  public var pid: pid_t { process.pid }

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
    process = try StartedProcess(
      words, environment: environment.map { "\($0)=\($1)" }, &actions, flags: Int16(POSIX_SPAWN_SETPGROUP))
  }

  deinit { end() }

  /// What it has written to standard output so far, up to the last whole line.
  public var lines: [String] {
    let text = Self.text(files + ".out")
    return text.split(separator: "\n", omittingEmptySubsequences: false).dropLast().map(String.init)
  }

  /// What it has written to standard error so far.
  public var errors: String { Self.text(files + ".err") }

  public var isRunning: Bool { process.exitCode() == nil }

  public func signal(_ number: Int32) { if isRunning { kill(pid, number) } }

  /// Waits for its end.
  public func finish(within limit: Duration = .seconds(30), at location: SourceLocation = #_sourceLocation)
    throws
    -> Outcome
  {
    let deadline = ContinuousClock.now + Patience.stretched(limit)
    while true {
      if let code = process.exitCode() { return outcome(code) }
      guard ContinuousClock.now < deadline else { break }
      Moment.pass(milliseconds: 1)
    }
    end()
    throw Trouble("still running after \(limit): \(outcome(-1))", at: location)
  }

  /// Kills it and what it has started in its process group.
  public func end() {
    if !process.end(group: true) { Issue.record("it outlives SIGKILL: \(outcome(-1))") }
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
