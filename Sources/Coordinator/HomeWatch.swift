// Owns noticing that somebody removes or renames what belongs to an open bank: its databases' files, its lock, its
// sockets, its notes and its logs. It decides nothing: it says what is missing, and the coordinator acts.
// Invariant: what is missing is known by the file behind the name, so that another file in its place counts as missing;
// the notes alone are replaced by the bank itself, and count as missing when there are none.
// Failure: SystemError where the kernel has no watch left; a bank lives without one.

import Posix
import Time

/// Watches over the names in a home.
final class HomeWatch {
  /// What is not where it was any more.
  enum Loss: CaseIterable {
    case database
    case log
    case reserve
    case lock
    case socket
    case notes
    case logs
    case standardError
  }

  /// Called with what is missing as soon as it is.
  var onLoss: (([Loss]) -> Void)?

  private let home: BankHome
  private let names: NameWatch

  /// Takes everything that is in the home now for what belongs there.
  init(_ home: BankHome, on loop: EventLoop) throws(SystemError) {
    self.home = home
    names = try NameWatch(in: [home.path, home.run, home.logs], on: loop)
    for loss in Loss.allCases { names.expect(Self.paths(of: loss, home), loss == .notes ? .any : .same) }
    names.onLoss = { [unowned self] paths in onLoss?(losses(in: paths)) }
    try names.remember()
  }

  /// When what is missing is to be made good; nil while nothing is.
  var repairAt: MonotonicTime? { names.repairAt }

  /// What is missing now.
  func losses() -> [Loss] { losses(in: names.losses()) }

  /// Takes what is there now for what belongs there.
  func remember() throws(SystemError) { try names.remember() }

  /// What is missing could not be made good: it is tried again later.
  func putOff() { names.putOff() }

  /// The names behind a loss.
  static func paths(of loss: Loss, _ home: BankHome) -> [String] {
    switch loss {
    case .database: [home.database]
    case .log: [home.database + "-wal"]
    case .reserve: [home.database + "-reserve"]
    case .lock: [home.lock]
    case .socket: [home.socket]
    case .notes: [home.windows, home.configurationCopy]
    case .logs: [home.logs]
    case .standardError: [home.standardError]
    }
  }

  private func losses(in paths: [String]) -> [Loss] {
    Loss.allCases.filter { loss in Self.paths(of: loss, home).contains(where: paths.contains) }
  }
}
