// The table of the files of a home: complete in itself, and without a name twice.

import Foundation
import Testing

@testable import BankModel

@Suite("The table of a home") struct HomeFileTableTests {
  @Test("each name is listed once, below a directory that is listed, too")
  func names() {
    let paths = HomeFileTable.entries.map(\.path)
    #expect(Set(paths).count == paths.count)
    for path in paths where path.contains("/") {
      let above = path.split(separator: "/").dropLast().joined(separator: "/")
      #expect(HomeFileTable.entries.contains { $0.path == above && $0.kind == .directory }, "\(path)")
    }
    for owner in HomeFile.Owner.allCases { #expect(!HomeFileTable.entries(of: owner).isEmpty, "\(owner)") }
  }

  @Test("the page about the home names every entry, and its owner's loss of a database as an end")
  func documented() throws {
    var root = URL(fileURLWithPath: #filePath)
    for _ in 0..<3 { root.deleteLastPathComponent() }
    let file = root.appendingPathComponent("Sources/Configuration/Configuration.docc/Home.md")
    let rows = try String(contentsOf: file, encoding: .utf8).split(separator: "\n").filter {
      $0.hasPrefix("|")
    }
    for entry in HomeFileTable.entries {
      let row = rows.first { $0.contains("`\(entry.path)`") && $0.split(separator: "|").count == 3 }
      #expect(row != nil, "\(entry.path)")
      #expect(
        (row?.contains("ends, and names the file") == true) == (entry.remedy == .ownerExits), "\(entry.path)")
    }
  }

  @Test("sockets are created again, databases end their owner, and their logs are rescued")
  func remedies() {
    for entry in HomeFileTable.entries {
      switch (entry.kind, entry.path) {
      case (.socket, _), (.directory, _): #expect(entry.remedy == .recreated, "\(entry.path)")
      case (_, let path) where path.hasSuffix(".db"): #expect(entry.remedy == .ownerExits, "\(path)")
      case (_, let path) where path.hasSuffix("-wal"): #expect(entry.remedy == .contentsCopied, "\(path)")
      case (_, let path): #expect(entry.remedy == .recreated, "\(path)")
      }
      #expect(entry.mode == (entry.kind == .directory ? 0o700 : 0o600))
    }
  }
}
