// Start of a program that is not part of this build: arguments of any bytes, pipes as standard streams, limits
// that apply before its first instruction, and its own session.
// Invariant: the child has descriptors 0, 1 and 2, and 3 if a channel was passed, and no others. Signals have
// their default action and none is blocked. The kernel kills the child when the thread that started it exits.
// Errors: SystemError. If the child could not be started, `call` names the step that failed: `chdir` for the
// directory, `execve` for the program.
import ByteText
import CLinux
import Glibc

extension ChildProcess {
  /// A program that is not part of this build, and everything that its start requires.
  public struct Program: Sendable, Hashable {
    /// Path of the program. It is not searched in `PATH`.
    public var path: String
    /// The arguments, starting with the program's own name. They may contain any bytes but zero.
    public var words: [[UInt8]]
    /// The whole environment; no variable of this process is inherited.
    public var environment: EnvironmentVariables
    /// Working directory; nil for that of the parent. A relative `path` starts from it.
    public var directory: String?
    /// Resource limits. Unless they limit the open files, the child has the limit of open files with which this
    /// process was started.
    public var limits: [ResourceLimit]
    /// umask; nil for the one with which this process was started.
    public var mask: UInt32?
    /// True if orphaned descendants of the child become its children. `prctl(2)` PR_SET_CHILD_SUBREAPER
    public var isSubreaper: Bool
    /// Control group in which the child starts and its descendants run; nil for the group of the parent.
    public var group: ControlGroup?

    public init(
      path: String, words: [[UInt8]], environment: EnvironmentVariables, directory: String? = nil,
      limits: [ResourceLimit] = [], mask: UInt32? = nil, isSubreaper: Bool = false, group: ControlGroup? = nil
    ) {
      (self.path, self.words, self.environment) = (path, words, environment)
      (self.directory, self.limits, self.isSubreaper) = (directory, limits, isSubreaper)
      (self.group, self.mask) = (group, mask)
    }
  }

  /// Starts a program under its limits, with one end of a socket pair as its descriptor 3, and passes the child
  /// and the second end to `watch`.
  ///
  /// - Parameters:
  ///   - output: becomes standard output and standard error of the child, and is closed in this process, even if
  ///     the start fails.
  ///   - watch: takes ownership of the child and of this process's end of the socket; see
  ///     ``spawn(executable:arguments:environment:watch:)``.
  public static func start(
    _ program: Program, output: consuming FileDescriptor,
    watch: (ChildProcess, consuming FileDescriptor) throws(SystemError) -> Void
  ) throws(SystemError) {
    let input = try FileDescriptor.open("/dev/null", .readOnly)
    let errors = try output.duplicate(atLeast: CInt(LINUX_SPAWN_SOURCES))
    let pair = try UnixSocket.pair()
    let child = try start(program, input: input, output: output, errors: errors, channel: pair.second)
    do throws(SystemError) { try watch(child, pair.first) } catch {
      child.killGroup(SIGKILL)
      child.end()
      throw error
    }
  }

  /// Starts a program under its limits, as the leader of its own session. `clone(2)`, `execve(2)`
  ///
  /// - Parameters:
  ///   - input: becomes descriptor 0 of the child and is closed in this process, even if the start fails.
  ///   - output: becomes descriptor 1 under the same rules.
  ///   - errors: becomes descriptor 2 under the same rules.
  ///   - channel: becomes descriptor 3 under the same rules; nil for none.
  /// - Throws: EINVAL for a zero byte in a text, for a missing first argument, or for a variable whose name is
  ///   empty or contains `=`; errors of `chdir(2)` for the directory, of `setrlimit(2)` for a limit, and of
  ///   `execve(2)` for the program; EAGAIN or ENOMEM of `clone(2)` if no more processes can be created; EMFILE
  ///   if no descriptor is free; an error whose call is ``ControlGroup/call`` if the process cannot join its
  ///   group.
  public static func start(
    _ program: Program, input: consuming FileDescriptor, output: consuming FileDescriptor,
    errors: consuming FileDescriptor, channel: consuming FileDescriptor? = nil
  ) throws(SystemError) -> ChildProcess {
    let variables = try settings(of: program)
    let input = try moveAboveStandardStreams(input)
    let output = try moveAboveStandardStreams(output)
    let errors = try moveAboveStandardStreams(errors)
    let channel = try moveAboveTargets(channel)
    let sources = (input.rawValue, output.rawValue, errors.rawValue, number(of: channel))
    if let kernel = Kernel.simulated {
      let pid = try systemCall("execve", on: program.path) {
        kernel.spawn(
          program.path, arguments: program.words.map { ByteText.text(of: $0) },
          environment: variables.map { ByteText.text(of: $0) },
          descriptors: [sources.0, sources.1, sources.2, sources.3, -1], leadsSession: true)
      }
      return try watching(pid)
    }
    return try start(program, variables, sources)
  }

  /// Starts a program on Linux with these variables and these sources of descriptors 0 to 3.
  private static func start(
    _ program: Program, _ variables: [[UInt8]], _ sources: (CInt, CInt, CInt, CInt)
  ) throws(SystemError) -> ChildProcess {
    var limits = program.limits
    // This process may have raised its own limit of open files. The child inherits a ``ProcessMark`` on purpose.
    if !limits.contains(where: { $0.resource == .openFiles }), let files = InheritedLimits.limit(.openFiles) {
      limits.append(files)
    }
    let mask = program.mask.map { CInt($0) } ?? linux_inherited_mask()
    let cLimits = limits.map(\.cValue)
    let group = try program.group?.openDirectory()
    let groupNumber = number(of: group)
    var (pid, watch): (pid_t, CInt) = (-1, -1)
    var step = LINUX_STEP_CLONE
    let code = withCStrings(program.words) { words in
      withCStrings(variables) { variables in
        program.path.withByteString { path in
          withOptionalCString(program.directory) { directory in
            cLimits.withUnsafeBufferPointer { limits in
              var start = linux_program(
                path: path, arguments: words, environment: variables, working_directory: directory,
                sources: (sources.0, sources.1, sources.2), channel: sources.3, limits: limits.baseAddress,
                limit_count: CInt(limits.count), mask: mask, ends_with_parent: true,
                is_subreaper: program.isSubreaper, group: groupNumber)
              return linux_start(&start, &pid, &watch, &step)
            }
          }
        }
      }
    }
    _ = consume group
    guard code == 0 else { throw failure(of: step, of: program, code) }
    return ChildProcess(pid: pid, pidDescriptor: FileDescriptor(owning: watch))
  }

  /// The environment as `NAME=VALUE`. Throws EINVAL for a text that execve cannot pass.
  private static func settings(of program: Program) throws(SystemError) -> [[UInt8]] {
    func refusal(_ subject: String) -> SystemError {
      SystemError(call: "execve", subject: subject, code: EINVAL)
    }
    guard !program.words.isEmpty else { throw refusal(program.path) }
    for text in [program.path, program.directory ?? ""] where text.utf8.contains(0) { throw refusal(text) }
    for word in program.words where word.contains(0) { throw refusal(program.path) }
    var settings: [[UInt8]] = []
    settings.reserveCapacity(program.environment.count)
    for (name, value) in program.environment {
      var setting = ByteText.bytes(of: name)
      guard !setting.isEmpty, !setting.contains(UInt8(ascii: "=")) else { throw refusal(name) }
      setting.append(UInt8(ascii: "="))
      setting.append(contentsOf: ByteText.bytes(of: value))
      guard !setting.contains(0) else { throw refusal(name) }
      settings.append(setting)
    }
    return settings
  }

  private static func failure(
    of step: linux_step, of program: Program, _ code: CInt
  ) -> SystemError {
    switch step {
    case LINUX_STEP_GROUP:
      SystemError(call: ControlGroup.call, subject: program.group?.path ?? "", code: code)
    case LINUX_STEP_SESSION: SystemError(call: "setsid", subject: program.path, code: code)
    case LINUX_STEP_DESCRIPTORS: SystemError(call: "dup2", subject: program.path, code: code)
    case LINUX_STEP_DIRECTORY: SystemError(call: "chdir", subject: program.directory ?? "", code: code)
    case LINUX_STEP_LIMITS: SystemError(call: "setrlimit", subject: program.path, code: code)
    case LINUX_STEP_PROGRAM: SystemError(call: "execve", subject: program.path, code: code)
    default: SystemError(call: "clone", subject: program.path, code: code)
    }
  }

  /// Moves a descriptor above 2, so that dup2 in the child does not overwrite another source.
  private static func moveAboveStandardStreams(
    _ descriptor: consuming FileDescriptor
  ) throws(SystemError) -> FileDescriptor {
    descriptor.rawValue > STDERR_FILENO ? descriptor : try descriptor.duplicate(atLeast: STDERR_FILENO + 1)
  }
}

/// Calls `body` with a null-terminated array of C strings, as `execve(2)` requires it.
private func withCStrings<Result>(
  _ words: [[UInt8]], _ body: (UnsafePointer<UnsafeMutablePointer<CChar>?>) -> Result
) -> Result {
  var text: [CChar] = []
  text.reserveCapacity(words.reduce(0) { $0 + $1.count + 1 })
  for word in words {
    text.append(contentsOf: word.lazy.map { CChar(bitPattern: $0) })
    text.append(0)
  }
  return text.withUnsafeMutableBufferPointer { text in
    var pointers: [UnsafeMutablePointer<CChar>?] = []
    pointers.reserveCapacity(words.count + 1)
    var offset = 0
    for word in words {
      pointers.append(text.baseAddress! + offset)
      offset += word.count + 1
    }
    pointers.append(nil)
    return pointers.withUnsafeBufferPointer { body($0.baseAddress!) }
  }
}

/// Calls `body` with a C string, or with null for nil.
private func withOptionalCString<Result>(
  _ string: String?, _ body: (UnsafePointer<CChar>?) -> Result
) -> Result {
  guard let string else { return body(nil) }
  return string.withByteString { body($0) }
}
