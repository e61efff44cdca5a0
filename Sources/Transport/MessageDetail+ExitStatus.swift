// Conversion of an exit status into a detail that can be translated, with or without
// lines that the process has written.
import BankModel
import Posix

extension MessageDetail {
  /// Detail about the exit of a process. Its English text equals `ExitStatus.description`.
  public init(_ status: ExitStatus) {
    switch status.ending {
    case .code(let code): self.init(.processCode, code)
    case .signal: self.init(.processSignal, status.description)
    case .unknown: self.init(.processStatusUnknown)
    }
  }

  /// Detail about an exit status and `lastLines`, the last lines that the process has written; nil for none.
  public init(_ status: ExitStatus, output lastLines: String?) {
    guard let lastLines else {
      self.init(status)
      return
    }
    switch status.ending {
    case .code(let code): self.init(.processCodeWithOutput, code, lastLines)
    case .signal, .unknown: self.init(.processSignalWithOutput, status.description, lastLines)
    }
  }
}
