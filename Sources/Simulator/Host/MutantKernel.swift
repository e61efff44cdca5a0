// Planted bugs at the system calls: a simulated kernel that does less than a process asks for, or something else, as if the
// process had the bug and had asked for that. The process itself is unchanged.
import Glibc
import Posix

extension SimulatedProcess {
  private var bug: PlantedBug? { host.plantedBug }

  /// True if the bytes that did not fit into a full socket are lost.
  func mutantDropsBytes(on end: StreamEnd) -> Bool { bug == .channelDropsUnsentBytes && !end.isPipe }

  /// True if a listening socket that ran out of descriptors is not watched again.
  func mutantIgnoresListener(_ descriptor: CInt) -> Bool {
    guard bug == .listenerNeverAcceptsAgain, case .listener(let listener)? = descriptors[descriptor] else {
      return false
    }
    // The first change after the failure ends the watch.
    defer { listener.hasPaused = listener.hasFailed }
    return listener.hasPaused
  }

  /// True if a signal does not reach its target: the SIGKILL to a child that was to exit by SIGABRT.
  func mutantOmits(_ signal: CInt, to process: SimulatedProcess) -> Bool {
    guard bug == .neverEscalatesToKill else { return false }
    if signal == SIGABRT { process.wasAborted = true }
    return signal == SIGKILL && process.wasAborted
  }

  /// True if a datagram does not reach its receiver: the report to the guardian that the bank is closed.
  func mutantOmits(_ datagram: [UInt8]) -> Bool {
    bug == .doesNotReportClose
      && datagram.split(separator: UInt8(ascii: "\n")).contains {
        $0.starts(with: Array("X_BANK_CLOSED=1".utf8))
      }
  }

  /// The arguments that a started program receives: a guardian without the report that its bank is open.
  func mutantArguments(_ arguments: [String], of program: String) -> [String] {
    guard bug == .doesNotReportOpen, program == GuardianProgram.path,
      let phase = arguments.firstIndex(of: "--phase"), let end = arguments.firstIndex(of: "--")
    else { return arguments }
    var changed = arguments
    changed[phase + 1] = "opening"
    changed.removeAll { $0 == "--opened" && arguments.firstIndex(of: $0).map { $0 < end } == true }
    return changed
  }

  /// Changes what a started command reads in its environment: a key of its own for each attempt.
  func mutateEnvironment(of child: SimulatedProcess) {
    guard bug == .addsAttemptToKey, let key = child.environment["BANK_KEY"],
      let attempt = child.environment["BANK_ATTEMPT"]
    else { return }
    child.environment["BANK_KEY"] = "\(key)-\(attempt)"
  }

  /// The exit status of a command as its runner reads it.
  func mutantStatus(_ status: ExitStatus, of child: SimulatedProcess) -> ExitStatus {
    guard let bug, child.environment["BANK_KEY"] != nil else { return status }
    let code: Int32
    switch (bug, status.ending) {
    case (.treatsDeferralAsFailure, .code(75)), (.treatsSignalAsFailure, .signal): code = 1
    case (.deadLettersMissingProgram, .code(126)), (.deadLettersMissingProgram, .code(127)): code = 65
    default: return status
    }
    return ExitStatus(ending: .code(code), maxResidentBytes: status.maxResidentBytes)
  }
}
