// Files and directories of a home: path, kind, owning process, and consequence of a loss.
// Invariant: no path is listed twice.

/// A file or directory of a home.
public struct HomeFile: Sendable, Hashable {
  /// Kind of file.
  public enum Kind: String, Sendable, Hashable {
    /// A directory with mode 0700.
    case directory
    /// A regular file with mode 0600.
    case file
    /// A socket with mode 0600. If a group is configured, the customers' socket of the vending machine is also open
    /// to this group.
    case socket
  }

  /// The process that needs the file.
  public enum Owner: String, Sendable, Hashable, CaseIterable {
    case coordinator, guardian, stock, vending, page
    /// The coordinator, if a service accepts outside workers.
    case workers
    /// A runner. The coordinator handles the loss of its directory.
    case runner
  }

  /// Consequence if the file is removed while its owner runs.
  public enum Remedy: String, Sendable, Hashable {
    /// The owner creates the file again.
    case recreated = "remade"
    /// The owner, which still has the removed file open, copies the contents.
    case contentsCopied = "rescued"
    /// The owner reports the file and exits.
    case ownerExits = "ends"
  }

  /// Path relative to the home directory.
  public let path: String
  /// Expected kind of file.
  public let kind: Kind
  /// Process that needs the file.
  public let owner: Owner
  /// Consequence if the file is removed.
  public let remedy: Remedy
  /// True if the file should exist while its owner runs; false if the owner may run without it, for example before
  /// its first use.
  public let isPermanent: Bool

  init(
    _ path: String, _ kind: Kind, _ owner: Owner, _ remedy: Remedy = .recreated, isPermanent: Bool = false
  ) {
    (self.path, self.kind, self.owner, self.remedy) = (path, kind, owner, remedy)
    self.isPermanent = isPermanent
  }

  /// Permission bits, without those for the group of the customers' socket.
  public var mode: UInt32 { kind == .directory ? 0o700 : 0o600 }
}

/// Table of the files and directories of a home.
public enum HomeFileTable {
  /// The entries. The logs of the windows, `logs/NAME.log`, are not listed.
  public static let entries: [HomeFile] =
    [
      HomeFile("run", .directory, .coordinator, isPermanent: true),
      HomeFile("logs", .directory, .coordinator, isPermanent: true),
      HomeFile("output", .directory, .runner),
      HomeFile("bank.db", .file, .coordinator, .ownerExits),
      HomeFile("bank.db-wal", .file, .coordinator, .contentsCopied),
      HomeFile("bank.db-reserve", .file, .coordinator),
      HomeFile("bank.lock", .file, .coordinator, isPermanent: true),
      HomeFile("run/bank.sock", .socket, .coordinator, isPermanent: true),
      HomeFile("run/answers.sock", .socket, .coordinator),
      HomeFile("run/windows", .file, .coordinator),
      HomeFile("run/configuration.json", .file, .coordinator),
      HomeFile("run/store", .file, .coordinator),
      HomeFile("run/database", .file, .coordinator),
      HomeFile("run/commands", .file, .coordinator),
      HomeFile("run/inflight", .file, .coordinator),
      HomeFile("run/pauses", .file, .coordinator),
      HomeFile("run/web.order", .file, .coordinator),
      HomeFile("logs/coordinator.log", .file, .coordinator, isPermanent: true),
      HomeFile("logs/bankd.stderr", .file, .coordinator),
      HomeFile("run/worker.sock", .socket, .workers, isPermanent: true),
      HomeFile("run/guardian.sock", .socket, .guardian, isPermanent: true),
      HomeFile("logs/guardian.log", .file, .guardian, isPermanent: true),
      HomeFile("run/web.sock", .socket, .page, isPermanent: true),
      HomeFile("run/web.port", .file, .page),
      HomeFile("run/web.sessions", .file, .page),
      HomeFile("web.secrets", .file, .page, isPermanent: true),
      HomeFile("logs/web.log", .file, .page),
    ] + service(.stock, sockets: ["stock"]) + service(.vending, sockets: ["vending", "vending-admin"])

  /// The entries that one process owns.
  public static func entries(of owner: HomeFile.Owner) -> [HomeFile] {
    entries.filter { $0.owner == owner }
  }

  /// - Parameter sockets: names without `.sock`.
  private static func service(_ owner: HomeFile.Owner, sockets: [String]) -> [HomeFile] {
    let name = owner.rawValue
    return [
      HomeFile("\(name).db", .file, owner, .ownerExits),
      HomeFile("\(name).db-wal", .file, owner, .contentsCopied),
      HomeFile("\(name).db-reserve", .file, owner),
      HomeFile("\(name).lock", .file, owner, isPermanent: true),
      HomeFile("logs/\(name).log", .file, owner),
    ] + sockets.map { HomeFile("run/\($0).sock", .socket, owner, isPermanent: true) }
  }
}
