// Program that a test has started. Its output goes into files, so that it never waits for a test that reads late. A
// program that exceeds its time limit is killed with its process group, and the test fails.
import Foundation
import Glibc
import Testing

/// Exit code and output of a program.
public struct Outcome: Sendable, CustomStringConvertible {
  public let arguments: [String]
  /// Exit code; 128 plus the signal if a signal ended the program.
  public let code: Int32
  public let out: String
  public let err: String

  /// Standard error without progress lines, which only a busy machine prints.
  public var errorsWithoutProgress: String {
    err.split(separator: "\n", omittingEmptySubsequences: false).filter { line in
      line.firstMatch(of: #/^[^.:]+ (· \d+|\d{1,3}% \d)/#) == nil
    }.joined(separator: "\n")
  }

  public var outLines: [String] { out.split(separator: "\n").map(String.init) }
  public var lastLine: String { outLines.last ?? "" }

  public func json() throws -> JSON { try JSON(parsing: out) }

  public var description: String {
    "`\(arguments.joined(separator: " "))` ended with \(code)\nout: \(out)\nerr: \(err)"
  }
  /// Description as the comment of an expectation.
  public var story: Comment { "\(description)" }
}

public final class RunningProgram {
  private let arguments: [String]
  private let files: String
  private var process: StartedProcess
  public var pid: pid_t { process.pid }

  /// - Parameters:
  ///   - files: Path prefix of the files for standard input, output and error: `.in`, `.out` and `.err` are appended.
  ///   - input: Text of standard input.
  ///   - inputDescriptor: Descriptor to read from instead of `input`.
  public init(
    _ arguments: [String], environment: [String: String], files: String, input: String = "",
    inputDescriptor: Int32? = nil
  ) throws {
    self.arguments = arguments
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
      arguments, environment: environment.map { "\($0)=\($1)" }, &actions, flags: Int16(POSIX_SPAWN_SETPGROUP)
    )
  }

  deinit { end() }

  /// Standard output so far, up to the last complete line.
  public var lines: [String] {
    let text = Self.text(files + ".out")
    return text.split(separator: "\n", omittingEmptySubsequences: false).dropLast().map(String.init)
  }

  /// Standard error so far.
  public var errors: String { Self.text(files + ".err") }

  public var isRunning: Bool { process.exitCode() == nil }

  public func signal(_ number: Int32) { if isRunning { kill(pid, number) } }

  /// Waits until the program exits.
  public func finish(within limit: Duration = .seconds(30), at location: SourceLocation = #_sourceLocation)
    throws
    -> Outcome
  {
    let deadline = ContinuousClock.now + TimeLimits.scaled(limit)
    while true {
      if let code = process.exitCode() { return outcome(code) }
      guard ContinuousClock.now < deadline else { break }
      Polling.pause(milliseconds: 1)
    }
    end()
    throw TestFailure("still running after \(limit): \(outcome(-1))", at: location)
  }

  /// Kills the program and its process group.
  public func end() {
    if !process.end(group: true) { Issue.record("the program survives SIGKILL: \(outcome(-1))") }
  }

  private func outcome(_ code: Int32) -> Outcome {
    Outcome(arguments: arguments, code: code, out: Self.text(files + ".out"), err: Self.text(files + ".err"))
  }

  private static func text(_ path: String) -> String {
    String(decoding: (try? Data(contentsOf: URL(fileURLWithPath: path))) ?? Data(), as: UTF8.self)
  }
}

/// Pause between two checks of a condition.
public enum Polling {
  public static func pause(milliseconds: Int32) { _ = poll(nil, 0, milliseconds) }
}
