// Conversion of an exit status into a detail that can be translated. Without lines of the process, the English
// text equals the description of the exit status.
import BankModel
import Posix

extension Remark {
  /// Detail about the exit of a process. Its English text equals ``Posix/ExitStatus/description``.
  public init(_ status: ExitStatus) {
    switch status.ending {
    case .code(let code): self.init(.processCode, code)
    case .signal: self.init(.processSignal, status.description)
    case .unseen: self.init(.processUnseen)
    }
  }

  /// Detail about an exit status and `words`, the last lines that the process has written; nil for none.
  public init(_ status: ExitStatus, saying words: String?) {
    guard let words else {
      self.init(status)
      return
    }
    switch status.ending {
    case .code(let code): self.init(.processCodeSaying, code, words)
    case .signal, .unseen: self.init(.processSignalSaying, status.description, words)
    }
  }
}
