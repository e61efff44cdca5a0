// The table of the files of a home: complete in itself, and without a name twice.

import Foundation
import Testing

@testable import BankModel

@Suite("The table of a home") struct HomeTableTests {
  @Test("each name is listed once, below a directory that is listed, too")
  func names() {
    let paths = HomeTable.entries.map(\.path)
    #expect(Set(paths).count == paths.count)
    for path in paths where path.contains("/") {
      let above = path.split(separator: "/").dropLast().joined(separator: "/")
      #expect(HomeTable.entries.contains { $0.path == above && $0.kind == .directory }, "\(path)")
    }
    for owner in HomeEntry.Owner.allCases { #expect(!HomeTable.entries(of: owner).isEmpty, "\(owner)") }
  }

  @Test("the page about the home names every entry, and its owner's loss of a database as an end")
  func documented() throws {
    var root = URL(fileURLWithPath: #filePath)
    for _ in 0..<3 { root.deleteLastPathComponent() }
    let file = root.appendingPathComponent("Sources/Configuration/Configuration.docc/Home.md")
    let rows = try String(contentsOf: file, encoding: .utf8).split(separator: "\n").filter {
      $0.hasPrefix("|")
    }
    for entry in HomeTable.entries {
      let row = rows.first { $0.contains("`\(entry.path)`") && $0.split(separator: "|").count == 3 }
      #expect(row != nil, "\(entry.path)")
      #expect((row?.contains("ends, and names the file") == true) == (entry.remedy == .ends), "\(entry.path)")
    }
  }

  @Test("sockets are created again, databases end their owner, and their logs are rescued")
  func remedies() {
    for entry in HomeTable.entries {
      switch (entry.kind, entry.path) {
      case (.socket, _), (.directory, _): #expect(entry.remedy == .remade, "\(entry.path)")
      case (_, let path) where path.hasSuffix(".db"): #expect(entry.remedy == .ends, "\(path)")
      case (_, let path) where path.hasSuffix("-wal"): #expect(entry.remedy == .rescued, "\(path)")
      case (_, let path): #expect(entry.remedy == .remade, "\(path)")
      }
      #expect(entry.mode == (entry.kind == .directory ? 0o700 : 0o600))
    }
  }
}
