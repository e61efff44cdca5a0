// Plants manifests and imports that break the floors, and some that only look as if they did.

import Testing

@Suite("The rules about floors")
struct FloorRulesTests {
  private func manifest(_ targets: String) -> File {
    File(
      "Package.swift",
      """
      // floor("InAComment", on: ["Nothing"])
      func floor(_ name: String, on below: [String] = []) -> Target {
        .target(name: name, dependencies: below.map { .init(stringLiteral: $0) })
      }
      let package = Package(name: "bank", dependencies: [], targets: [
        .systemLibrary(name: "CSQLite", providers: [.apt(["libsqlite3-dev"])]),
        \(targets)
      ])
      """)
  }

  @Test("the declarations of a manifest are parsed")
  func declarations() {
    let text = """
      floor("BankModel"),
      floor(
        "Storage",
        on: [
          "BankModel", "CSQLite",
        ]),
      process("bank-teller", on: ["Teller"]),
      tests("WireTests", of: ["Wire"], resources: [.copy("Golden")]),
      """
    #expect(
      Manifest(manifest(text)).declarations == [
        .init(name: "CSQLite", dependencies: [], isTest: false),
        .init(name: "BankModel", dependencies: [], isTest: false),
        .init(name: "Storage", dependencies: ["BankModel", "CSQLite"], isTest: false),
        .init(name: "bank-teller", dependencies: ["Teller"], isTest: false),
        .init(name: "WireTests", dependencies: ["Wire"], isTest: true),
      ])
  }

  @Test("a dependency on a lower floor is fine")
  func lower() {
    #expect(FloorRules.checkManifest(manifest(#"floor("Wire", on: ["BankModel"]),"#)).isEmpty)
  }

  @Test(
    "a dependency on a sibling or on a higher floor is refused", arguments: ["Posix", "Transport", "Wire"])
  func notLower(dependency: String) {
    let found = FloorRules.checkManifest(manifest("floor(\"Wire\", on: [\"BankModel\", \"\(dependency)\"]),"))
    #expect(found.count == 1)
    #expect(found.first?.message.contains("Wire (floor 2) depends on \(dependency)") == true)
  }

  @Test("a target without a floor is refused, and so is a dependency on one")
  func missing() {
    let text = #"floor("Attic"), floor("Wire", on: ["Cellar"]),"#
    let found = FloorRules.checkManifest(manifest(text)).map(\.message)
    #expect(found.count == 2)
    #expect(found.contains { $0.hasPrefix("Attic has no floor") })
    #expect(found.contains("Wire depends on Cellar, which has no floor"))
  }

  @Test("an import of our own that is not declared is refused, in every spelling")
  func undeclared() {
    let manifest = Manifest(
      manifest(#"floor("BankModel"), floor("Posix"), floor("Wire", on: ["BankModel"]),"#))
    for spelling in [
      "import Posix", "public import Posix", "@testable import Posix", "import struct Posix.Descriptor",
      "@preconcurrency internal import Posix",
    ] {
      let file = File("Sources/Wire/Frame.swift", "// head\n// head\nimport BankModel\n\(spelling)\n")
      let found = FloorRules.checkImports(file, manifest)
      #expect(found.map(\.line) == [4], "\(spelling)")
    }
  }

  @Test("declared modules, foreign ones, and those in a comment may be imported")
  func declared() {
    let manifest = Manifest(manifest(#"floor("BankModel"), floor("Wire", on: ["BankModel"]),"#))
    let file = File("Sources/Wire/Frame.swift", "import BankModel\nimport Glibc\n// import Wire\n")
    #expect(FloorRules.checkImports(file, manifest).isEmpty)
  }

  @Test("a module's name has underscores where the target's has hyphens")
  func hyphens() {
    let manifest = Manifest(manifest(#"process("bank-teller", on: []), tests("TellerTests", of: []),"#))
    let file = File("Tests/TellerTests/A.swift", "@testable import bank_teller\n")
    #expect(FloorRules.checkImports(file, manifest).count == 1)
  }

  @Test("a directory that is not a target is refused")
  func stray() {
    let file = File("Sources/Attic/Box.swift", "")
    #expect(FloorRules.checkImports(file, Manifest(manifest(""))).count == 1)
  }

  @Test("a package is refused, and so is a manifest without an empty list of packages")
  func packages() {
    #expect(FloorRules.checkPackages(manifest("")).isEmpty)
    let two = File(
      "Package.swift",
      #"let package = Package(name: "bank", dependencies: [.package(url: "https://example.org/a", from: "1.0.0")])"#
    )
    #expect(FloorRules.checkPackages(two).count == 2)
    let commented = File("Package.swift", "// dependencies: []\nlet package = Package()")
    #expect(FloorRules.checkPackages(commented).count == 1)
  }
}
