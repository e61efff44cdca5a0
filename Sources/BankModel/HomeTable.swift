// Files and directories of a home: path, kind, owning process, and consequence of a loss.
// Invariant: no path is listed twice. The processes watch these files, the audit checks them, and the documentation
// lists them.

/// A file or directory of a home.
public struct HomeEntry: Sendable, Hashable {
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

  /// The process that needs the file and handles its loss; see `Remedy`.
  public enum Owner: String, Sendable, Hashable, CaseIterable {
    case coordinator, guardian, stock, vending, page
    /// The coordinator, if a service accepts outside workers.
    case workers
    /// A runner. The coordinator creates its directory again.
    case runner
  }

  /// Consequence if the file is removed while its owner runs.
  public enum Remedy: String, Sendable, Hashable {
    /// The owner creates the file again.
    case remade
    /// The owner still has the removed file open. It copies the contents and starts a new file.
    case rescued
    /// The owner refuses further requests, reports the file and exits.
    case ends
  }

  /// Path relative to the home directory.
  public let path: String
  /// Expected kind of file.
  public let kind: Kind
  /// Process that needs the file and handles its loss.
  public let owner: Owner
  /// Consequence if the file is removed.
  public let remedy: Remedy
  /// True if the file exists for as long as its owner runs; false if the owner may run without it, for example before
  /// its first use.
  public let isAlwaysThere: Bool

  init(
    _ path: String, _ kind: Kind, _ owner: Owner, _ remedy: Remedy = .remade, isAlwaysThere: Bool = false
  ) {
    (self.path, self.kind, self.owner, self.remedy) = (path, kind, owner, remedy)
    self.isAlwaysThere = isAlwaysThere
  }

  /// Permission bits of the entry, without those for the group of the customers' socket.
  public var mode: UInt32 { kind == .directory ? 0o700 : 0o600 }
}

/// The entries of a home directory.
public enum HomeTable {
  /// All entries except the logs of the windows, `logs/NAME.log`, which are created again with their next line.
  public static let entries: [HomeEntry] =
    [
      HomeEntry("run", .directory, .coordinator, isAlwaysThere: true),
      HomeEntry("logs", .directory, .coordinator, isAlwaysThere: true),
      HomeEntry("output", .directory, .runner),
      HomeEntry("bank.db", .file, .coordinator, .ends),
      HomeEntry("bank.db-wal", .file, .coordinator, .rescued),
      HomeEntry("bank.db-reserve", .file, .coordinator),
      HomeEntry("bank.lock", .file, .coordinator, isAlwaysThere: true),
      HomeEntry("run/bank.sock", .socket, .coordinator, isAlwaysThere: true),
      HomeEntry("run/answers.sock", .socket, .coordinator),
      HomeEntry("run/windows", .file, .coordinator),
      HomeEntry("run/configuration.json", .file, .coordinator),
      HomeEntry("run/store", .file, .coordinator),
      HomeEntry("run/books", .file, .coordinator),
      HomeEntry("run/commands", .file, .coordinator),
      HomeEntry("run/hands", .file, .coordinator),
      HomeEntry("run/pauses", .file, .coordinator),
      HomeEntry("run/web.order", .file, .coordinator),
      HomeEntry("logs/coordinator.log", .file, .coordinator, isAlwaysThere: true),
      HomeEntry("logs/bankd.stderr", .file, .coordinator),
      HomeEntry("run/worker.sock", .socket, .workers, isAlwaysThere: true),
      HomeEntry("run/guardian.sock", .socket, .guardian, isAlwaysThere: true),
      HomeEntry("logs/guardian.log", .file, .guardian, isAlwaysThere: true),
      HomeEntry("run/web.sock", .socket, .page, isAlwaysThere: true),
      HomeEntry("run/web.port", .file, .page),
      HomeEntry("run/web.sessions", .file, .page),
      HomeEntry("web.secrets", .file, .page, isAlwaysThere: true),
      HomeEntry("logs/web.log", .file, .page),
    ] + service(.stock, sockets: ["stock"]) + service(.vending, sockets: ["vending", "vending-admin"])

  /// The entries that one process owns.
  public static func entries(of owner: HomeEntry.Owner) -> [HomeEntry] {
    entries.filter { $0.owner == owner }
  }

  /// The entries of a service process with a database of its own.
  ///
  /// - Parameter sockets: names without `.sock`.
  private static func service(_ owner: HomeEntry.Owner, sockets: [String]) -> [HomeEntry] {
    let name = owner.rawValue
    return [
      HomeEntry("\(name).db", .file, owner, .ends),
      HomeEntry("\(name).db-wal", .file, owner, .rescued),
      HomeEntry("\(name).db-reserve", .file, owner),
      HomeEntry("\(name).lock", .file, owner, isAlwaysThere: true),
      HomeEntry("logs/\(name).log", .file, owner),
    ] + sockets.map { HomeEntry("run/\($0).sock", .socket, owner, isAlwaysThere: true) }
  }
}
