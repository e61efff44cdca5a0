// Owns the start of the executable `bank-teller`: the channel on descriptor 3, the tie to the parent, the signals.
// It must not know what a teller does.
// Invariant: no teller lives without its coordinator; whoever starts one by hand is told what to do instead.
// Failure: an exit code of `TellerExit`, and a line on standard error.

import Glibc
import Posix

/// The program `bank-teller NAME GENERATION COORDINATOR HOME`. The arguments are for `ps` and audits alone: everything is said on the channel.
public enum TellerProgram {
  /// Where the coordinator puts the teller's end of the channel.
  static let channelNumber: CInt = 3

  /// Runs to the end, and returns the code to exit with.
  public static func run() -> Int32 {
    Signals.ignorePipe()
    guard fcntl(channelNumber, F_GETFD) != -1 else { return explain() }
    let channel = FileDescriptor(owning: channelNumber)
    do throws(SystemError) {
      // A pair's credentials are those of the process that made it, which is the coordinator.
      let parent = try UnixSocket.peer(of: channel).pid
      guard ParentDeath.followParent(expectedParent: parent) else { return TellerExit.done }
    } catch {
      return explain()
    }
    do throws(SystemError) {
      return try serve(channel)
    } catch {
      complain("\(error)")
      return TellerExit.system
    }
  }

  private static func serve(_ channel: consuming FileDescriptor) throws(SystemError) -> Int32 {
    let loop = try EventLoop()
    let teller = try TellerProcess(descriptor: channel, loop: loop, complain: complain)
    // A terminal sends SIGINT and SIGHUP to everybody; whether tellers end is for the coordinator to say.
    let signals = try SignalSource([SIGTERM, SIGINT, SIGHUP], on: loop) { report in
      if report.signal == SIGTERM { teller.askToEnd() }
    }
    return try withExtendedLifetime(signals) { () throws(SystemError) in try teller.run() }
  }

  private static func explain() -> Int32 {
    complain(
      """
      this program is started by the coordinator, with its end of a socket pair on descriptor \(channelNumber); \
      there is none. To open the bank, run: bankctl start
      """)
    return TellerExit.usage
  }

  private static func complain(_ words: String) {
    // Where nobody reads standard error there is nobody to tell.
    _ = try? StandardStreams.write("bank-teller: \(words)\n", to: .error)
  }
}
