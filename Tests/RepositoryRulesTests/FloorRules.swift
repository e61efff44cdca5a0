// The floor of each target, and the rule that it imports only lower ones. The table is written out and not
// derived from the manifest: moving a target to another floor is a decision, which is made here. A target
// that is missing here fails.

enum FloorRules {
  static let floors: [String: Int] = [
    "CLinux": 0, "CSQLite": 0, "CBuild": 0, "CMicrohttpd": 0, "CWebAssets": 0, "Time": 0, "ByteText": 0,
    "SlowDisk": 0,
    "CPostgres": 0,
    "ServiceFixture": 4, "PosixFixture": 3, "PostgresFixture": 4,
    "BankModel": 1, "Arguments": 1, "JSON": 1,
    "QueueCore": 2, "StockCore": 2, "VendingCore": 2, "Wire": 2, "Posix": 2, "WebPages": 2,
    "WebCore": 2,
    "Storage": 3, "Transport": 3, "Supervision": 3, "Logging": 3, "Configuration": 3,
    "CommandRunner": 3, "JSONOutput": 3, "WebServer": 3, "HeadlessBrowser": 3, "Postgres": 3,
    "Teller": 4, "ServiceProcess": 4, "ControlClient": 4, "StockClient": 4, "VendingClient": 4, "Guardian": 4,
    "PostgresStore": 4, "PostgresQueries": 5,
    // These use the stock, so they are above its client; the services are above what their processes have in
    // common.
    "StockService": 5, "Coordinator": 5, "JuiceStation": 5, "VendingMachine": 5, "CommandExecutor": 5,
    "WebInterface": 5,
    // The coordinator of a shared bank is above the reader of its database, and `bankd` above it.
    "PostgresBackend": 6, "bankd": 7,
    "bank-teller": 6, "bank-stockd": 6, "bank-juice": 6, "bank-vending": 6, "bank-runner": 6,
    "bank-guardian": 6, "bank-web": 6,
    // What the programs for users have in common.
    "BankctlCommands": 6, "bankctl": 7, "bank-chaos": 7, "bank-bench": 7, "bank-fuzz": 7,
    // The simulator drives the pure parts of several processes, so it is above them; nothing is above it.
    "Simulator": 7, "bank-simulate": 8,
    // A bank for tests.
    "BranchFixture": 0,
  ]

  /// Every target has a floor, and every dependency is on a strictly lower one.
  static func checkManifest(_ file: File) -> [Violation] {
    let manifest = Manifest(file)
    return manifest.declarations.filter { !$0.isTest }.flatMap { target -> [Violation] in
      guard let floor = floors[target.name] else {
        return [Violation(file.path, "\(target.name) has no floor; give it one in FloorRules.floors")]
      }
      return target.dependencies.compactMap { name in
        guard let below = floors[name] else {
          return Violation(file.path, "\(target.name) depends on \(name), which has no floor")
        }
        guard below >= floor else { return nil }
        return Violation(
          file.path,
          "\(target.name) (floor \(floor)) depends on \(name) (floor \(below)); only lower floors are allowed"
        )
      }
    }
  }

  /// The targets that a target imports are among its declared dependencies.
  static func checkImports(_ file: File, _ manifest: Manifest) -> [Violation] {
    guard file.isSwift, let name = file.target else { return [] }
    guard let target = manifest[name] else {
      return [Violation(file.path, "Package.swift has no target \(name)")]
    }
    let own = Dictionary(
      manifest.declarations.map { ($0.name.replacing("-", with: "_"), $0.name) }, uniquingKeysWith: { $1 })
    return file.imports.compactMap { line, module in
      guard let imported = own[module], !target.dependencies.contains(imported) else { return nil }
      return Violation(
        file.path, line: line, "imports \(module), which \(name) does not declare in Package.swift")
    }
  }

  /// No packages: C libraries come from the system.
  static func checkPackages(_ file: File) -> [Violation] {
    let code = SourceText.code(of: file.text)
    var violations: [Violation] = []
    if !code.contains("dependencies: []") {
      violations.append(Violation(file.path, "must contain `dependencies: []`"))
    }
    if code.contains(".package(") {
      violations.append(Violation(file.path, "names a package; the bank is built from itself and the system"))
    }
    return violations
  }
}
