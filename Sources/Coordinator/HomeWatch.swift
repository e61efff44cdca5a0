// Owns noticing that somebody removes or renames what a bank cannot live without: its database, its lock, its socket.
// It decides nothing: it says what is missing, and the coordinator acts. Nothing is asked of the disk while nobody
// touches the home.
// Invariant: what is missing is known by the file behind the name, so that another file in its place counts as missing.
// Failure: SystemError where the kernel has no watch left; a bank lives without one.

import BankModel
import Posix

/// Watches over the names in a home.
final class HomeWatch {
  /// A name in the home behind which the file is not any more that of this bank.
  enum Loss: CaseIterable {
    case database
    case lock
    case socket
  }

  /// When it is to be looked at what is missing; nil while nothing was removed.
  private(set) var checkAt: MonotonicTime?

  private struct Identity: Equatable {
    var device: UInt64
    var inode: UInt64
  }

  /// Whoever removes a whole home has time to finish; nothing is put back into it meanwhile.
  private static let pause = TimeSpan.milliseconds(500)

  private let home: BankHome
  private let notices: DirectoryWatch
  private var known: [Loss: Identity] = [:]

  /// Takes everything that is in the home now for what belongs there.
  init(_ home: BankHome, on loop: EventLoop) throws(SystemError) {
    self.home = home
    notices = try DirectoryWatch()
    _ = try loop.register(fd: notices.fd, interest: .read) { [weak self] _ in self?.notice() }
    try remember()
  }

  /// What is missing now.
  func losses() -> [Loss] {
    checkAt = nil
    return Loss.allCases.filter { identity(of: $0) != known[$0] }
  }

  /// Takes what is there now for what belongs there.
  func remember() throws(SystemError) {
    let changes = DirectoryWatch.Changes.itself.union([.deleted, .movedFrom])
    for directory in [home.path, home.run] { _ = try notices.add(directory, changes) }
    for loss in Loss.allCases { known[loss] = identity(of: loss) }
  }

  private func notice() {
    _ = try? notices.take()
    if checkAt == nil { checkAt = SystemClock.moment().monotonic + Self.pause }
  }

  private func identity(of loss: Loss) -> Identity? {
    let path =
      switch loss {
      case .database: home.database
      case .lock: home.lock
      case .socket: home.socket
      }
    guard let facts = try? FileFacts.inspect(path, followLinks: false) else { return nil }
    return Identity(device: facts.device, inode: facts.inode)
  }
}
