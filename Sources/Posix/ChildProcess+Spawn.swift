// Start of a child with a defined set of descriptors, signals, arguments and environment variables. No Swift
// code runs between fork and exec: posix_spawn performs all steps.
// Invariant: the child has descriptors 0, 1 and 2, 3 if a channel was passed, 4 if a secondDescriptor was
// passed, and no others. Signals have their default action and none is blocked. The umask and the limit of
// open files are those with which this process was started, if ``ProcessStart`` has saved them.
// Errors: SystemError. If the child has started but cannot be watched, it is killed and reaped before the error
// is thrown, unless the kernel has already reaped it.
import ByteText
import CLinux
import Glibc

extension ChildProcess {
  /// Source of the child's standard input.
  public enum Input: Sendable, Hashable {
    /// The null device, /dev/null: always at end of file.
    case null
    /// The same stream as that of this process.
    case inherit
  }

  /// Destination of the child's standard output or standard error.
  public enum Output: Sendable, Hashable {
    /// The same stream as that of this process.
    case inherit
    /// The null device, /dev/null: the output is discarded.
    case null
    /// Appends to this file, which is created with mode 0600 if it is missing.
    case append(path: String)
  }

  /// Starts a program with one end of a socket pair as its descriptor 3, and passes the child and the second
  /// end to `watch`.
  ///
  /// - Parameter watch: takes ownership of the child and of this process's end of the socket. If it throws, the
  ///   child is killed and reaped.
  /// - Throws: the errors of
  ///   ``spawn(executable:arguments:environment:channel:secondDescriptor:standardInput:standardOutput:standardError:newSession:workingDirectory:)``,
  ///   and the errors of `watch`.
  public static func spawn(
    executable: String, arguments: [String], environment: EnvironmentVariables,
    watch: (ChildProcess, consuming FileDescriptor) throws(SystemError) -> Void
  ) throws(SystemError) {
    let pair = try UnixSocket.pair()
    let child = try spawn(
      executable: executable, arguments: arguments, environment: environment, channel: pair.second)
    do throws(SystemError) { try watch(child, pair.first) } catch {
      child.end()
      throw error
    }
  }

  /// Starts a program. `posix_spawn(3)`
  ///
  /// - Parameters:
  ///   - executable: path of the program. It is not searched in `PATH`.
  ///   - arguments: the arguments without the program's own name, which this function prepends.
  ///   - environment: the whole environment; no variable of this process is inherited. See
  ///     ``Environment/all()``.
  ///   - channel: becomes descriptor 3 of the child and is closed in this process, even if the start fails.
  ///   - secondDescriptor: becomes descriptor 4 of the child and is closed in this process, even if the start
  ///     fails.
  ///   - newSession: true if the child leads its own session and receives no signals from the terminal, such as
  ///     that of Ctrl-C. `setsid(2)`
  ///   - workingDirectory: working directory; nil for that of the parent.
  /// - Throws: EINVAL for a zero byte in a text; ENOENT, EACCES, ENOEXEC for a program that cannot be run or a
  ///   directory that cannot be entered; EAGAIN if no more processes are allowed; errors of `open(2)` for the
  ///   file of an output; EMFILE if no descriptor is free.
  public static func spawn(
    executable: String, arguments: [String] = [], environment: EnvironmentVariables,
    channel: consuming FileDescriptor? = nil, secondDescriptor: consuming FileDescriptor? = nil,
    standardInput: Input = .null,
    standardOutput: Output = .inherit, standardError: Output = .inherit, newSession: Bool = false,
    workingDirectory: String? = nil
  ) throws(SystemError) -> ChildProcess {
    let words = [executable] + arguments
    let settings = environment.settings
    for text in words + settings + [workingDirectory ?? ""] where text.utf8.contains(0) {
      throw SystemError(call: "posix_spawn", subject: text, code: EINVAL)
    }
    let input = try source(of: standardInput)
    let output = try source(of: standardOutput)
    let error = try source(of: standardError)
    let end = try moveAboveTargets(channel.take())
    let kept = try moveAboveTargets(secondDescriptor.take())
    let sources = [
      number(of: input), number(of: output), number(of: error), number(of: end), number(of: kept),
    ]
    if let kernel = Kernel.simulated {
      let pid = try systemCall("posix_spawn", on: executable) {
        kernel.spawn(
          executable, arguments: words, environment: settings, descriptors: sources, leadsSession: newSession)
      }
      return try watching(pid)
    }
    var pid: pid_t = -1
    let code = withCStrings(words) { words in
      withCStrings(settings) { settings in
        withOptionalCString(workingDirectory) { directory in
          linux_spawn(&pid, words[0], words, settings, sources, newSession, directory)
        }
      }
    }
    guard code == 0 else { throw SystemError(call: "posix_spawn", subject: executable, code: code) }
    return try watching(pid)
  }

  /// The started child with this process id, with its pidfd.
  static func watching(_ pid: pid_t) throws(SystemError) -> ChildProcess {
    do throws(SystemError) {
      let watch = try FileDescriptor("pidfd_open", on: "process \(pid)") { Kernel.openProcess(pid) }
      return ChildProcess(pid: pid, pidDescriptor: watch)
    } catch {
      // If the kernel reaps children automatically, this child is already reaped, and its number may belong to
      // another process.
      guard error.code != ESRCH else { throw error }
      _ = Kernel.kill(pid, SIGKILL)
      if Kernel.simulated == nil {
        var ending = linux_ending()
        _ = uninterrupted { linux_reap(pid, true, &ending) }
      }
      throw error
    }
  }

  /// Descriptor that becomes the child's standard input; nil to inherit that of this process.
  private static func source(of input: Input) throws(SystemError) -> FileDescriptor? {
    switch input {
    case .inherit: nil
    case .null: try moveAboveTargets(try FileDescriptor.open("/dev/null", .readOnly))
    }
  }

  /// Descriptor that becomes an output of the child; nil to inherit that of this process. This process opens the file,
  /// so that an error contains the path.
  private static func source(of output: Output) throws(SystemError) -> FileDescriptor? {
    switch output {
    case .inherit: nil
    case .null: try moveAboveTargets(try FileDescriptor.open("/dev/null", .writeOnly))
    case .append(let path):
      try moveAboveTargets(try FileDescriptor.open(path, [.writeOnly, .create, .append], mode: 0o600))
    }
  }

  /// Moves a descriptor above 4, so that dup2 in the child does not overwrite another source.
  static func moveAboveTargets(
    _ descriptor: consuming FileDescriptor?
  ) throws(SystemError) -> FileDescriptor? {
    guard let descriptor = consume descriptor else { return nil }
    return descriptor.rawValue >= LINUX_SPAWN_SOURCES
      ? descriptor : try descriptor.duplicate(atLeast: CInt(LINUX_SPAWN_SOURCES))
  }

  /// Number of a descriptor; -1 for nil.
  static func number(of descriptor: borrowing FileDescriptor?) -> CInt {
    switch descriptor {
    case .some(let open): open.rawValue
    case .none: -1
    }
  }
}

extension CurrentProcess {
  /// Replaces the program of this process. The process id, the terminal, the working directory, the environment
  /// and all descriptors without close-on-exec are kept. The umask and the soft limit of open files are reset to
  /// those with which this process was started. `execv(3)`
  ///
  /// - Parameters:
  ///   - executable: path of the program. It is not searched in `PATH`.
  ///   - name: the first argument, the name under which the program is called.
  /// - Throws: ENOENT, EACCES, ENOEXEC for an executable that cannot be run.
  public static func become(
    executable: String, name: String, arguments: [String]
  ) throws(SystemError) -> Never {
    let code = withCStrings([name] + arguments) { words in
      executable.withByteString { path in
        var own = linux_lent()
        linux_lend_surroundings(&own)
        execv(path, words)
        let code = errno
        linux_take_back_surroundings(&own)
        return code
      }
    }
    throw SystemError(call: "execv", subject: executable, code: code)
  }
}

/// Calls `body` with a null-terminated array of C strings, as `execve(2)` requires it.
private func withCStrings<Result>(
  _ strings: [String], _ body: (UnsafePointer<UnsafeMutablePointer<CChar>?>) -> Result
) -> Result {
  var pointers = strings.map { $0.withByteString { strdup($0) } } + [nil]
  defer { for pointer in pointers { free(pointer) } }
  return pointers.withUnsafeMutableBufferPointer { body(UnsafePointer($0.baseAddress!)) }
}

/// Calls `body` with a C string, or with null for nil.
private func withOptionalCString<Result>(
  _ string: String?, _ body: (UnsafePointer<CChar>?) -> Result
) -> Result {
  guard let string else { return body(nil) }
  return string.withByteString { body($0) }
}
