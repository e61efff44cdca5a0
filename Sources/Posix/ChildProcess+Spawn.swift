// Owns the start of a child: exactly which descriptors, signals, arguments and environment it begins with.
// No Swift runs between fork and exec: posix_spawn does all of it.
// Invariant: the child has descriptors 0, 1, 2, 3 where a channel and 4 where a secondDescriptor was given, and no others;
// every signal is at its default and none is blocked. The mask of new files and the limit of open files are those that this
// process was started with.
// Failure: SystemError; a child that was started and cannot be watched is killed and reaped first.
import ByteText
import CLinux
import Glibc

extension ChildProcess {
  /// Where the child's standard input comes from.
  public enum Input: Sendable, Hashable {
    /// Always at its end: /dev/null.
    case null
    case inherit
  }

  /// Where the child's standard output or standard error goes.
  public enum Output: Sendable, Hashable {
    case inherit
    case null
    /// To the end of this file, made with 0600 where there is none.
    case append(path: String)
  }

  /// Starts a program with a connected socket as its descriptor 3, and has it taken into care.
  ///
  /// - Parameter watch: takes the child and this end of the socket over. Where it throws, the child was never in
  ///   anybody's care: it is ended and collected.
  /// - Throws: as ``spawn(executable:arguments:environment:channel:secondDescriptor:standardInput:standardOutput:standardError:newSession:workingDirectory:)``
  ///   does, and what `watch` throws.
  public static func spawn(
    executable: String, arguments: [String], environment: Variables,
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
  ///   - executable: the path of the program; no search is made.
  ///   - arguments: without the program's own name, which is put in front.
  ///   - environment: all of it; nothing else is inherited. See ``Environment/all()``.
  ///   - channel: becomes descriptor 3 of the child and is closed here, whether or not the start succeeds.
  ///   - secondDescriptor: becomes descriptor 4 of the child and is closed here, whether or not the start succeeds.
  ///   - newSession: the child leads a session of its own and hears nothing of the terminal (Ctrl-C,
  ///     `setsid(2)`).
  ///   - workingDirectory: where it starts; nil for where the parent is.
  /// - Throws: ENOENT, EACCES, ENOEXEC for what cannot be run; EAGAIN where no more processes are allowed.
  public static func spawn(
    executable: String, arguments: [String] = [], environment: Variables,
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
    let end = try clearOfTargets(channel.take())
    let kept = try clearOfTargets(secondDescriptor.take())
    let sources = [
      number(of: input), number(of: output), number(of: error), number(of: end), number(of: kept),
    ]
    if let kernel = Kernel.simulated {
      let pid = try systemCall("posix_spawn", on: executable) {
        kernel.spawn(
          executable, arguments: words, environment: settings, descriptors: sources, leadsSession: newSession)
      }
      return try watched(pid)
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
    return try watched(pid)
  }

  static func watched(_ pid: pid_t) throws(SystemError) -> ChildProcess {
    do throws(SystemError) {
      let watch = try FileDescriptor("pidfd_open", on: "process \(pid)") { Kernel.openProcess(pid) }
      return ChildProcess(pid: pid, pidDescriptor: watch)
    } catch {
      // Where the kernel reaps children by itself this one is gone, and the number may be a stranger's.
      guard error.code != ESRCH else { throw error }
      _ = Kernel.kill(pid, SIGKILL)
      if Kernel.simulated == nil {
        var ending = linux_ending()
        _ = uninterrupted { linux_reap(pid, true, &ending) }
      }
      throw error
    }
  }

  // Opened here and not by the child, so that a failure names the file.
  private static func source(of input: Input) throws(SystemError) -> FileDescriptor? {
    switch input {
    case .inherit: nil
    case .null: try clearOfTargets(try FileDescriptor.open("/dev/null", .readOnly))
    }
  }

  private static func source(of output: Output) throws(SystemError) -> FileDescriptor? {
    switch output {
    case .inherit: nil
    case .null: try clearOfTargets(try FileDescriptor.open("/dev/null", .writeOnly))
    case .append(let path):
      try clearOfTargets(try FileDescriptor.open(path, [.writeOnly, .create, .append], mode: 0o600))
    }
  }

  /// Moves a descriptor above 4, so that putting one in its place in the child overwrites no other's source.
  static func clearOfTargets(
    _ descriptor: consuming FileDescriptor?
  ) throws(SystemError) -> FileDescriptor? {
    guard let descriptor = consume descriptor else { return nil }
    return descriptor.rawValue >= LINUX_SPAWN_SOURCES
      ? descriptor : try descriptor.duplicate(atLeast: CInt(LINUX_SPAWN_SOURCES))
  }

  static func number(of descriptor: borrowing FileDescriptor?) -> CInt {
    switch descriptor {
    case .some(let open): open.rawValue
    case .none: -1
    }
  }
}

extension CurrentProcess {
  /// Becomes another program. The process, its terminal, its directory, its environment and whatever it has open that is not
  /// to be closed stay. The mask of new files is again that with which this process was started. `execv(3)`
  ///
  /// - Parameters:
  ///   - executable: the path of the program; no search is made.
  ///   - name: the first of its words, by which it was called.
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

/// Hands `body` a null-ended array of C strings, as `execve(2)` wants it.
private func withCStrings<Result>(
  _ strings: [String], _ body: (UnsafePointer<UnsafeMutablePointer<CChar>?>) -> Result
) -> Result {
  var pointers = strings.map { $0.withByteString { strdup($0) } } + [nil]
  defer { for pointer in pointers { free(pointer) } }
  return pointers.withUnsafeMutableBufferPointer { body(UnsafePointer($0.baseAddress!)) }
}

private func withOptionalCString<Result>(
  _ string: String?, _ body: (UnsafePointer<CChar>?) -> Result
) -> Result {
  guard let string else { return body(nil) }
  return string.withByteString { body($0) }
}
