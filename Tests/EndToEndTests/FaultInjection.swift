// System calls that fail on demand: strace(1) attaches to a running coordinator and makes the n-th and all later fsyncs
// fail, or kills it there. Tests that need it are skipped with a reason if strace or the right to trace is missing.
import Foundation
import Glibc
import Testing

enum FaultInjection {
  /// Reason for a skipped test.
  static let requirement: Comment = "needs strace and the right to trace processes"

  private static let program = "/usr/bin/strace"
  private static let calls = "fsync,fdatasync"

  /// True if strace can trace a process here; tried once.
  static let isPossible: Bool = {
    guard access(program, X_OK) == 0 else { return skipped }
    var pid: pid_t = 0
    let straceArguments = [program, "-o", "/dev/null", "/bin/true"]
    var arguments: [UnsafeMutablePointer<CChar>?] = straceArguments.map { strdup($0) } + [nil]
    defer { arguments.forEach { free($0) } }
    guard posix_spawn(&pid, program, nil, nil, &arguments, environ) == 0 else { return skipped }
    var status: Int32 = 0
    while waitpid(pid, &status, 0) < 0 && errno == EINTR {}
    return status == 0 ? true : skipped
  }()

  private static var skipped: Bool {
    print("tests with failing system calls are skipped: \(requirement)")
    return false
  }

  enum Fault: String {
    case inputOutputError = "error=EIO"
    case killed = "signal=KILL"
  }

  /// Arguments with which the n-th sync of each process fails.
  static func straceArguments(_ fault: Fault, at number: Int, tail: [String]) -> [String] {
    ["-e", "trace=\(calls)", "-e", "inject=\(calls):\(fault.rawValue):when=\(number)"] + tail
  }

  /// Attaches to the coordinator of a branch, and returns when every sync from now on is counted.
  static func attach(_ fault: Fault, at number: Int, to branch: ScratchBank) throws -> RunningProgram {
    let tracer = try branch.launch(
      straceArguments(fault, at: number, tail: ["-p", "\(try branch.status().pid)"]), program: program)
    try branch.waitUntil("strace is attached") { tracer.errors.contains(" attached") }
    return tracer
  }

  /// Opens the bank with every process traced from its first system call; strace exits after the last of them.
  static func open(_ fault: Fault, at number: Int, _ branch: ScratchBank) throws -> RunningProgram {
    try branch.launch(
      ["-f"] + straceArguments(fault, at: number, tail: [Binaries.bankctl, "start", "--speed", "max"]),
      program: program
    )
  }
}
