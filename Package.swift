// swift-tools-version: 6.0
// The targets of the bank, from the lowest floor up. A target imports only targets of a lower floor;
// Tests/RepositoryRulesTests reads this file and the imports and fails otherwise.
// There are no package dependencies, and there will be none: C libraries come from the system.
import Foundation
import PackageDescription

/// Identity of one build of all executables, so that the handshake refuses a mix of builds. `scripts/build`
/// passes a digest of the sources; a plain `swift build` is the build "dev".
let buildIdentity = Context.environment["BANK_BUILD_ID"] ?? "dev"

/// The web server needs libmicrohttpd. If its header is missing, everything else is built, and `bankctl web` prints the
/// package to install. The scripts pass the result of the check in a variable, because the manifest is evaluated again
/// when a variable changes.
let hasPage: Bool =
  switch Context.environment["BANK_PAGE"] {
  case "0": false
  case "1": true
  default:
    ["/usr/include", "/usr/local/include"].contains {
      FileManager.default.fileExists(atPath: $0 + "/microhttpd.h")
    }
  }

/// True if the header of PostgreSQL's client library exists. Without it, everything is built that stores its data in
/// SQLite.
let hasPostgres: Bool =
  switch Context.environment["BANK_POSTGRES"] {
  case "0": false
  case "1": true
  default:
    ["/usr/include", "/usr/local/include"].contains { place in
      ["/libpq-fe.h", "/postgresql/libpq-fe.h"].contains {
        FileManager.default.fileExists(atPath: place + $0)
      }
    }
  }

/// CI treats every warning as an error; a developer in the middle of a change is not stopped by one.
let strictness: [SwiftSetting] =
  Context.environment["BANK_STRICT"] == nil ? [] : [.unsafeFlags(["-warnings-as-errors"])]

/// Modules in which the simulated histories and the property tests of `scripts/test` spend their time.
let busyInTests: Set = [
  "Time", "BankModel", "QueueCore", "StockCore", "VendingCore", "Wire", "Posix", "Storage", "Coordinator",
  "Simulator", "HeadlessBrowser",
]

/// Compiler options of the release. Both were measured by `scripts/instructions` for a served customer:
/// specializing generic code across modules saves 4 % of the instructions, and omitting the run-time checks
/// of exclusive access another 15 %. A build for the tests makes these checks.
///
/// Optimization takes more than half of a release build. `scripts/build quick` omits it: its programs are slower and
/// are ready in a third of the time; the release replaces them once it is built. `scripts/test` optimizes only the
/// modules in which it spends its time, because for the others the compiler would take longer than the tests save. It
/// compiles each module as a whole, as for a release, because that is faster than file by file. It writes the module
/// interface in the same step, because in a separate step the compiler would process all sources of a test target once
/// more. Whole modules with their interfaces, and the omitted debug information, saved a third of the build time.
func speed(of name: String) -> [SwiftSetting] {
  let flags =
    if Context.environment["BANK_BUILD_TESTS"] != nil {
      [busyInTests.contains(name) ? "-O" : "-Onone", "-enable-testing", "-no-emit-module-separately-wmo"]
    } else if Context.environment["BANK_BUILD_QUICK"] != nil {
      ["-Onone", "-gnone", "-enforce-exclusivity=unchecked"]
    } else {
      ["-cross-module-optimization", "-enforce-exclusivity=unchecked"]
    }
  return [.unsafeFlags(flags, .when(configuration: .release))]
}

func floor(_ name: String, on below: [String] = []) -> Target {
  .target(
    name: name, dependencies: present(below, for: name),
    swiftSettings: strictness + speed(of: name) + postgres(for: name) + mutants(for: name))
}

/// Targets that need PostgreSQL's client library. A program that can do without it checks `HAS_POSTGRES`.
let withPostgres: Set = [
  "CPostgres", "Postgres", "PostgresStore", "PostgresQueries", "PostgresBackend", "PostgresFixture",
  "PostgresTests",
  "PostgresStoreTests", "PostgresBackendTests",
]

/// The dependencies in `below` that exist in this build.
func present(_ below: [String], for name: String) -> [Target.Dependency] {
  below.filter { hasPostgres || withPostgres.contains(name) || !withPostgres.contains($0) }.map {
    .init(stringLiteral: $0)
  }
}

/// Compilation condition of the simulator and its tests.
func postgres(for name: String) -> [SwiftSetting] {
  hasPostgres && ["Simulator", "SimulatorTests"].contains(name) ? [.define("HAS_POSTGRES")] : []
}

/// Only the build for the tests contains the planted bugs of production code, which the simulator must find; see
/// Sources/Posix/Mutant.swift.
func mutants(for name: String) -> [SwiftSetting] {
  Context.environment["BANK_BUILD_TESTS"] != nil
    && ["Posix", "Simulator", "SimulatorTests", "bank-simulate"].contains(name) ? [.define("MUTANTS")] : []
}

func process(_ name: String, on below: [String]) -> Target {
  .executableTarget(
    name: name, dependencies: present(below, for: name),
    swiftSettings: strictness + speed(of: name) + mutants(for: name)
      + (hasPostgres ? [.define("HAS_POSTGRES")] : []))
}

func tests(_ name: String, of targets: [String], exclude: [String] = []) -> Target {
  .testTarget(
    name: name, dependencies: present(targets, for: name), exclude: exclude,
    swiftSettings: strictness + speed(of: name) + postgres(for: name) + mutants(for: name))
}

let package = Package(
  name: "bank",
  products: [
    // Tests load it into the programs under test; see Tests/SlowDisk. The programs are products without a declaration.
    .library(name: "SlowDisk", type: .dynamic, targets: ["SlowDisk"])
  ],
  dependencies: [],
  targets: [
    // Floor 0: the base. C headers and small shims, and the types for time.
    .target(name: "CLinux"),
    .target(name: "CBuild", cSettings: [.define("BANK_BUILD_ID", to: "\"\(buildIdentity)\"")]),
    .systemLibrary(
      name: "CSQLite", pkgConfig: "sqlite3", providers: [.apt(["libsqlite3-dev"])]),
    // Library of the web server. `hasPage` is false on a machine without it.
    .systemLibrary(
      name: "CMicrohttpd", pkgConfig: "libmicrohttpd", providers: [.apt(["libmicrohttpd-dev"])]),
    // Client library of PostgreSQL. `hasPostgres` is false on a machine without it.
    .systemLibrary(name: "CPostgres", pkgConfig: "libpq", providers: [.apt(["libpq-dev"])]),
    // The files are in Assets; the path is for compilers without support for embedding files.
    .target(
      name: "CWebAssets", exclude: ["Assets"],
      cSettings: [.define("BANK_ASSETS", to: "\"\(Context.packageDirectory)/Sources/CWebAssets/Assets\"")]),
    floor("Time"),
    // Text that carries arbitrary bytes.
    floor("ByteText"),

    // Floor 1: values. No input, no output, no clock.
    floor("BankModel", on: ["Time"]),
    floor("Arguments", on: ["Time", "ByteText"]),
    floor("JSON"),

    // Floor 2: pure state machines, the wire format, and the operating system, without any banking.
    floor("QueueCore", on: ["Time", "BankModel"]),
    floor("StockCore", on: ["Time", "BankModel"]),
    floor("VendingCore", on: ["Time", "BankModel"]),
    floor("Wire", on: ["Time", "BankModel", "JSON"]),
    floor("Posix", on: ["CLinux", "Time", "ByteText"]),
    floor("WebCore", on: ["Time", "BankModel", "JSON"]),
    // The bank's web pages as values that become text.
    floor("WebPages", on: ["Time", "BankModel", "Arguments", "JSON"]),

    // Floor 3: state machines with input and output.
    floor(
      "Storage", on: ["Time", "ByteText", "BankModel", "QueueCore", "StockCore", "VendingCore", "CSQLite"]),
    floor("Transport", on: ["Time", "BankModel", "Wire", "Posix", "CBuild"]),
    floor("Supervision", on: ["Time", "BankModel"]),
    floor("Logging", on: ["BankModel", "Time", "Posix"]),
    floor("Configuration", on: ["Time", "BankModel", "Arguments", "JSON", "Posix"]),
    floor("CommandRunner", on: ["Time", "ByteText", "Posix"]),
    // Formats that are the same in all programs: the shapes of `--json`, and the report about a killed teller.
    floor("JSONOutput", on: ["BankModel", "ByteText", "Arguments", "JSON", "Posix", "Wire"]),
    floor("WebServer", on: ["Time", "Posix", "WebCore", "CMicrohttpd"]),

    // A client of PostgreSQL on the event loop.
    floor("Postgres", on: ["Time", "BankModel", "Posix", "CPostgres"]),

    // A real browser, and the appearance of pages in it, for tests and measurements.
    floor("HeadlessBrowser", on: ["JSON", "Time", "Posix"]),

    // Floor 4: one library for each process.
    floor("Teller", on: ["Time", "BankModel", "Wire", "Posix", "Transport", "Logging"]),
    floor("Guardian", on: ["Time", "Posix", "Supervision", "Logging"]),
    floor("ControlClient", on: ["Time", "BankModel", "Wire", "Posix", "Transport"]),
    floor("StockClient", on: ["BankModel", "Wire", "Posix", "Transport"]),
    floor("VendingClient", on: ["BankModel", "Wire", "Posix", "Transport"]),
    // Common part of the processes of all services.
    floor(
      "ServiceProcess",
      on: ["Time", "BankModel", "QueueCore", "Wire", "Posix", "Storage", "Transport", "Logging"]),

    // The database that several branches share.
    floor("PostgresStore", on: ["Time", "BankModel", "QueueCore", "Posix", "Postgres"]),

    // The web server: a client of the three sockets.
    floor(
      "WebInterface",
      on: [
        "Time", "BankModel", "JSON", "Wire", "Posix", "Transport", "Logging", "Configuration", "JSONOutput",
        "WebCore", "WebPages", "WebServer", "CWebAssets", "StockClient", "VendingClient",
      ]),

    // Floor 5: the services, and the clients of the stock. The coordinator returns to the stock what was
    // reserved for cancelled tickets.
    floor(
      "Coordinator",
      on: [
        "Time", "ByteText", "BankModel", "Arguments", "QueueCore", "StockCore", "Wire", "Posix", "Storage",
        "Transport",
        "Supervision",
        "Logging", "Configuration", "CommandRunner", "StockClient", "VendingClient", "VendingCore",
      ]),
    floor(
      "StockService",
      on: [
        "Time", "BankModel", "QueueCore", "StockCore", "Wire", "Posix", "Storage", "Transport", "Logging",
        "Configuration", "ServiceProcess",
      ]),
    // A juice station is a teller that asks the stock first.
    floor("JuiceStation", on: ["Time", "BankModel", "Wire", "Posix", "StockClient", "Teller"]),
    // A window with commands is a teller whose work is done by a command.
    floor(
      "CommandExecutor",
      on: ["Time", "ByteText", "BankModel", "JSON", "Wire", "Posix", "CommandRunner", "Teller"]),

    // The vending machine takes its drinks from the stock.
    floor(
      "VendingMachine",
      on: [
        "Time", "BankModel", "QueueCore", "VendingCore", "Wire", "Posix", "Storage", "Transport", "Logging",
        "Configuration", "StockClient", "ServiceProcess",
      ]),

    // Reading and auditing of the shared database, for processes that may block.
    floor(
      "PostgresQueries",
      on: ["Time", "BankModel", "QueueCore", "Posix", "Postgres", "PostgresStore", "Storage"]),

    // Floor 6: the processes that no user starts directly, and the common part of the others: arguments, the
    // conversation with a bank, and the commands of bankctl. `SharedBranch` is a coordinator's database in PostgreSQL.
    floor(
      "PostgresBackend",
      on: [
        "Time", "BankModel", "QueueCore", "Wire", "Posix", "Coordinator", "Postgres", "PostgresStore",
        "PostgresQueries",
      ]),
    process("bankd", on: ["Coordinator", "BankModel", "Posix", "PostgresBackend"]),
    process("bank-guardian", on: ["Guardian", "Posix"]),
    process("bank-teller", on: ["Teller"]),
    process("bank-juice", on: ["JuiceStation", "Teller"]),
    process("bank-runner", on: ["CommandExecutor", "Posix", "Teller"]),
    process("bank-stockd", on: ["StockService", "Posix"]),
    process("bank-vending", on: ["VendingMachine", "Posix"]),
    process("bank-web", on: ["WebInterface", "Posix"]),
    floor(
      "BankctlCommands",
      on: [
        "Time", "ByteText", "BankModel", "Arguments", "JSON", "Wire", "Posix", "Transport", "Logging",
        "Configuration",
        "CommandRunner", "ControlClient",
        "StockClient", "VendingClient", "Guardian", "JSONOutput",
      ]),

    // Floor 7: the programs that users start.
    process("bankctl", on: ["BankctlCommands"]),
    process(
      "bank-chaos",
      on: [
        "BankctlCommands", "Time", "BankModel", "Arguments", "JSON", "Wire", "Posix", "ControlClient",
        "StockClient",
        "VendingClient", "JSONOutput",
      ]),

    // Above all others: the pure parts of every process in one simulated world, and the program that runs it.
    floor(
      "Simulator",
      on: [
        "Time", "BankModel", "QueueCore", "StockCore", "VendingCore", "Wire", "Posix", "Storage", "Transport",
        "Supervision", "Logging", "Configuration", "JSON", "Teller", "JuiceStation", "Coordinator",
        "ServiceProcess",
        "StockService", "StockClient", "VendingMachine", "VendingClient", "Guardian", "CommandRunner",
        "CommandExecutor", "CSQLite", "Postgres", "PostgresStore", "PostgresBackend",
      ]),
    process("bank-simulate", on: ["Simulator", "BankctlCommands", "Arguments", "Time", "Posix"]),

    process(
      "bank-bench",
      on: [
        "BankctlCommands", "Time", "BankModel", "Arguments", "CommandRunner", "Configuration", "Coordinator",
        "Logging",
        "QueueCore",
        "Wire",
        "Posix", "Storage", "Supervision", "Transport", "Teller", "ControlClient", "StockClient",
        "HeadlessBrowser", "Postgres", "PostgresStore",
      ]),
    process(
      "bank-fuzz",
      on: ["BankctlCommands", "Time", "BankModel", "Arguments", "Wire", "Posix", "ControlClient"]),

    // A slow disk for programs under test. No target depends on it: it is loaded with LD_PRELOAD.
    .target(name: "SlowDisk", path: "Tests/SlowDisk"),
    // Common parts of the tests of the lower floors, and of those of all services.
    .target(
      name: "PosixFixture", dependencies: ["Time", "Posix"],
      path: "Tests/PosixFixture", swiftSettings: strictness + speed(of: "PosixFixture")),
    .target(
      name: "ServiceFixture", dependencies: ["Time", "BankModel", "Posix", "Transport", "Wire"],
      path: "Tests/ServiceFixture", swiftSettings: strictness + speed(of: "ServiceFixture")),
    // A PostgreSQL server for one test.
    .target(
      name: "PostgresFixture", dependencies: ["Time", "Posix", "PosixFixture", "Postgres"],
      path: "Tests/PostgresFixture", swiftSettings: strictness + speed(of: "PostgresFixture")),
    // A scratch bank for the built programs. It imports none of them.
    .target(
      name: "BranchFixture", path: "Tests/BranchFixture",
      swiftSettings: strictness + speed(of: "BranchFixture")),
    tests("QueueCoreTests", of: ["QueueCore", "Time", "BankModel"]),
    tests("StockCoreTests", of: ["StockCore", "Time", "BankModel"]),
    tests("VendingCoreTests", of: ["VendingCore", "Time", "BankModel"]),
    tests("BankModelTests", of: ["Time", "BankModel"]),
    tests("SupervisionTests", of: ["Supervision", "Time", "BankModel"]),
    tests("TimeTests", of: ["Time"]),
    tests("ByteTextTests", of: ["ByteText"]),
    tests("WebCoreTests", of: ["WebCore", "BankModel", "Time"]),
    tests(
      "WebInterfaceTests",
      of: [
        "PosixFixture", "WebInterface", "WebServer", "WebCore", "WebPages", "Wire", "BankModel", "Posix",
        "Time",
      ]),
    tests("WebServerTests", of: ["PosixFixture", "WebServer", "WebCore", "Posix", "Time"]),
    tests("PosixTests", of: ["PosixFixture", "Posix", "Time", "ByteText"]),
    tests(
      "PostgresTests", of: ["PostgresFixture", "PosixFixture", "Postgres", "BankModel", "Posix", "Time"]),
    tests(
      "PostgresStoreTests",
      of: [
        "PosixFixture", "PostgresFixture", "PostgresStore", "Postgres", "QueueCore", "BankModel", "Posix",
        "Time",
      ]),
    tests(
      "PostgresBackendTests",
      of: [
        "PosixFixture", "PostgresFixture", "bankd", "PostgresBackend", "PostgresQueries", "PostgresStore",
        "Postgres", "ControlClient",
        "Coordinator", "QueueCore", "Storage", "Supervision", "Transport", "Wire", "BankModel", "Posix",
        "Time",
      ]),
    tests("RepositoryRulesTests", of: []),
    tests(
      "TransportTests",
      of: [
        "ServiceFixture", "PosixFixture", "Transport", "StockClient", "VendingClient", "Time", "BankModel",
        "Wire", "Posix",
      ]),
    tests("CommandRunnerTests", of: ["PosixFixture", "CommandRunner", "Time", "Posix"]),
    tests("LoggingTests", of: ["Logging", "Time", "BankModel", "Posix"]),
    tests("ArgumentsTests", of: ["Arguments", "Time"]),
    tests("WebPagesTests", of: ["WebPages", "CWebAssets", "BankModel", "JSON"]),
    tests("WireTests", of: ["Wire", "Time", "BankModel", "JSON"], exclude: ["Golden"]),
    tests("LogReaderTests", of: ["Logging", "Time", "BankModel", "Posix", "BankctlCommands"]),
    tests("JSONTests", of: ["JSON", "BankModel", "Posix"]),
    tests("JSONOutputTests", of: ["JSONOutput", "Time", "BankModel", "Wire"]),
    tests("ConfigurationTests", of: ["Configuration", "Arguments", "JSON", "Time", "BankModel", "Posix"]),
    tests(
      "TellerTests",
      of: ["Teller", "bank-teller", "Transport", "Logging", "Wire", "Posix", "Time", "BankModel"]),
    tests(
      "CommandExecutorTests",
      of: [
        "PosixFixture", "ByteText", "JSON", "CommandExecutor", "bank-runner", "CommandRunner", "Teller",
        "Transport", "Logging",
        "Wire", "Posix", "Time", "BankModel",
      ]),
    tests(
      "StorageTests",
      of: ["Time", "BankModel", "QueueCore", "StockCore", "VendingCore", "Storage", "CSQLite"],
      exclude: ["FormerDatabases"]),
    tests(
      "SimulatorTests",
      of: [
        "Simulator", "Time", "BankModel", "Logging", "Posix", "QueueCore", "StockCore", "VendingCore",
        "Storage",
        "CSQLite", "ServiceProcess", "StockService", "VendingMachine",
      ]),
    tests(
      "CoordinatorTests",
      of: [
        "PosixFixture", "Coordinator", "Guardian", "Time", "BankModel", "Configuration", "Logging", "Posix",
        "QueueCore",
        "StockClient",
        "StockCore", "Storage", "Supervision", "Transport", "VendingClient", "VendingCore", "Wire",
      ]),
    tests(
      "StockServiceTests",
      of: [
        "ServiceFixture",
        "bank-stockd", "StockService", "StockClient", "StockCore", "Storage", "QueueCore", "Transport",
        "Time", "BankModel", "Wire", "Posix", "Coordinator", "JuiceStation", "Teller", "Supervision",
        "Logging",
        "ServiceProcess",
      ]),
    tests(
      "ServiceProcessTests",
      of: [
        "ServiceFixture",
        "ServiceProcess", "Time", "BankModel", "Logging", "Posix", "QueueCore", "Storage", "Transport",
        "Wire",
      ]),
    tests(
      "VendingMachineTests",
      of: [
        "ServiceFixture",
        "bank-stockd", "bank-vending", "VendingMachine", "VendingClient", "VendingCore", "Storage",
        "QueueCore",
        "Transport", "StockClient", "Time", "BankModel", "Wire", "Posix", "ServiceProcess",
      ]),
    // These tests run the programs and import none. Without a dependency on the programs, all cores stay busy until the
    // end of a build.
    tests(
      "EndToEndTests",
      of: ["BranchFixture", "BankModel", "CSQLite", "PostgresFixture", "Postgres", "Posix", "Time"],
      exclude: hasPostgres ? [] : ["Shared"]),
    tests(
      "BrowserTests",
      of: ["HeadlessBrowser", "BranchFixture", "Arguments", "JSON", "Posix", "PosixFixture", "Time"]),
    tests("ControlClientTests", of: ["PosixFixture", "ControlClient", "Time", "BankModel", "Wire", "Posix"]),
    tests(
      "BankctlTests",
      of: [
        "BankctlCommands", "bank-chaos", "ControlClient", "StockClient", "VendingClient", "Transport",
        "Configuration",
        "Arguments", "JSON", "Time", "BankModel", "Guardian", "JSONOutput", "Wire", "Posix",
      ]),
    tests(
      "GuardianTests",
      of: ["Guardian", "Coordinator", "Supervision", "BankModel", "Time", "Logging", "Posix"]),
  ],
  swiftLanguageModes: [.v6]
)

// Opening a bank does not wait for the programs that measure it: `scripts/build` makes those on request.
if Context.environment["BANK_BUILD_PROGRAMS"] != nil {
  let others: Set = [
    "Simulator", "SlowDisk", "PosixFixture", "ServiceFixture", "BranchFixture", "HeadlessBrowser",
    "bank-simulate", "bank-bench", "bank-fuzz",
    "PostgresFixture",
  ]
  package.targets.removeAll { $0.isTest || others.contains($0.name) }
  package.products.removeAll()
}

if !hasPage {
  let pages: Set = [
    "CMicrohttpd", "WebServer", "WebInterface", "bank-web", "WebServerTests", "WebInterfaceTests",
    "BrowserTests",
  ]
  package.targets.removeAll { pages.contains($0.name) }
}

if !hasPostgres { package.targets.removeAll { withPostgres.contains($0.name) } }
