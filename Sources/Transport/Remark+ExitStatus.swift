// Owns how the end of a process becomes a particular that can be said in any language. It must not know whose process it
// was. Failure: none.
import BankModel
import Posix

extension Remark {
  /// How a process ended. In English it reads as ``Posix/ExitStatus/description``.
  public init(_ status: ExitStatus) {
    switch status.ending {
    case .code(let code): self.init(.processCode, code)
    case .signal: self.init(.processSignal, status.description)
    case .unseen: self.init(.processUnseen)
    }
  }
}
