// Start of the executables `bank-teller`, `bank-juice` and `bank-runner`: the channel on descriptor 3, the exit with
// the parent process, the signals.
// Invariant: a teller ends with its coordinator.
// Errors: an exit code of `TellerExit`, and a line on standard error.

import Glibc
import Posix
import Wire

/// The program `bank-teller NAME GENERATION COORDINATOR HOME`. These arguments are for `ps` and audits: a teller
/// receives its data over the channel.
public enum TellerProgram {
  /// Descriptor number at which the coordinator places the teller's end of the channel.
  static let channelNumber: CInt = 3

  /// Runs the teller until its end. Returns the exit code. `makeProvider` creates the provider that obtains what each
  /// customer needs.
  public static func run(
    as name: String = "bank-teller", role: PeerRole = .teller,
    makeProvider: (EventLoop) throws(SystemError) -> (any ResourceProvider)? = { _ in nil }
  ) -> Int32 {
    let reportError = { (message: String) in Self.reportError(message, as: name) }
    ProcessStart.prepare(as: .service)
    ProcessStart.leaveStartDirectory()
    guard fcntl(channelNumber, F_GETFD) != -1 else { return explain(reportError) }
    let channel = FileDescriptor(owning: channelNumber)
    do throws(SystemError) {
      // A socket pair has the credentials of the process that made it, which is the coordinator.
      let parent = try UnixSocket.peer(of: channel).pid
      guard ParentDeath.dieWithParent(expectedParent: parent) else { return TellerExit.done }
    } catch { return explain(reportError) }
    do throws(SystemError) { return try serve(channel, role, reportError, makeProvider) } catch {
      reportError("\(error)")
      return TellerExit.system
    }
  }

  /// Serves over the channel until the end, and handles signals meanwhile. Returns the exit code.
  private static func serve(
    _ channel: consuming FileDescriptor, _ role: PeerRole, _ reportError: @escaping (String) -> Void,
    _ makeProvider: (EventLoop) throws(SystemError) -> (any ResourceProvider)?
  ) throws(SystemError) -> Int32 {
    let loop = try EventLoop()
    let teller = try TellerProcess(
      descriptor: channel, loop: loop, role: role, provider: try makeProvider(loop), reportError: reportError)
    // A terminal sends SIGINT and SIGHUP to the whole process group. They are ignored, because the coordinator
    // decides when its workers end.
    let signals = try SignalSource([SIGTERM, SIGINT, SIGHUP], on: loop) { report in
      if report.signal == SIGTERM { teller.requestStop() }
    }
    return try withExtendedLifetime(signals) { () throws(SystemError) in try teller.run() }
  }

  /// Reports that the channel is missing, and how to open the bank. Returns the exit code for it.
  private static func explain(_ reportError: (String) -> Void) -> Int32 {
    reportError(
      """
      this program is started by the coordinator, with its end of a socket pair on descriptor \(channelNumber); \
      there is none. To open the bank, run: bankctl start
      """)
    return TellerExit.usage
  }

  /// Writes one line to standard error, after the name of the program.
  private static func reportError(_ message: String, as name: String) {
    // If standard error has no reader, there is no other place to which the message could be written.
    _ = try? StandardStreams.write("\(name): \(message)\n", to: .error)
  }
}
