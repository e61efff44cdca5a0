// Owns the life of the guardian as a process of its own: from its command line to its exit code.
// It must not know how a bank is guarded.
// Invariant: descriptor 3 is the conversation of whoever wants the bank open, and goes to the first coordinator alone;
// descriptor 4 is the home's lock, where a coordinator has started this process.
// Failure: an exit code; the words go to standard error, for nobody talks with a guardian.
import Glibc
import Posix

/// The guardian as a process.
public enum GuardianProcess {
  /// Guards a bank until it is closed; the exit code of the process.
  public static func run(arguments: [String]) -> Int32 {
    ProcessStart.prepare(as: .service)
    CurrentProcess.setName("bank-guardian")
    // Before anything is opened, or the numbers would be others'.
    let channel = inherited(3)
    let lock = inherited(4)
    do {
      let options = try GuardianOptions(arguments)
      let program = Paths.join(Paths.directory(of: try Paths.executable()), "bankd")
      let order = Guardian.Order(home: options.home, program: program, words: options.words)
      return try guardBank(order, options.ward, channel, lock)
    } catch let mistake as GuardianOptions.Mistake {
      _ = try? StandardStreams.write("bank-guardian: \(mistake.sentence)\n", to: .error)
      return 2
    } catch {
      _ = try? StandardStreams.write("bank-guardian: \(error)\n", to: .error)
      return 1
    }
  }

  private static func guardBank(
    _ order: Guardian.Order, _ ward: GuardianOptions.GuardedCoordinator?,
    _ channel: consuming FileDescriptor?,
    _ lock: consuming FileDescriptor?
  ) throws(SystemError) -> Int32 {
    let guardian = try Guardian(order, lock: lock, of: ward)
    let signals = try guardian.listenToSignals()
    defer { withExtendedLifetime(signals) {} }
    if let ward {
      // Somebody else has the home: the coordinator that started this guardian has lost it, or lies.
      guard guardian.hasHome else { return 1 }
      guardian.adopt(ward)
    } else {
      guardian.begin(channel: channel)
    }
    if guardian.hasHome { speakInto(guardian.home.standardError) }
    return try guardian.run().exitCode
  }

  private static func inherited(_ number: CInt) -> FileDescriptor? {
    guard fcntl(number, F_GETFD) != -1 else { return nil }
    _ = fcntl(number, F_SETFD, FD_CLOEXEC)
    return FileDescriptor(owning: number)
  }

  /// A broken invariant speaks on standard error, and nobody reads the terminal of a daemon.
  private static func speakInto(_ path: String) {
    guard let file = try? FileDescriptor.open(path, [.writeOnly, .create, .append], mode: 0o600) else {
      return
    }
    _ = dup2(file.rawValue, STDERR_FILENO)
  }
}
