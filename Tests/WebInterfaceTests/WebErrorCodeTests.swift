// The tables of codes on the page about HTTP, compared with the code: the server's own codes, and those of
// the forms.

import Foundation
import Testing
import WebPages

@testable import WebInterface

@Suite("The error codes of the page")
struct WebErrorCodeTests {
  private struct Row: Hashable {
    var code: String
    var status: Int
  }

  /// The rows of the table under a heading, in their order.
  private func rows(under heading: String) throws -> [Row] {
    var root = URL(fileURLWithPath: #filePath)
    for _ in 0..<3 { root.deleteLastPathComponent() }
    let file = root.appendingPathComponent("Sources/bank-web/bank-web.docc/Web.md")
    let page = try String(contentsOf: file, encoding: .utf8)
    let begin = try #require(page.range(of: "### \(heading)\n")?.upperBound)
    let end = page[begin...].range(of: "\n##")?.lowerBound ?? page.endIndex
    let lines = page[begin..<end].split(separator: "\n").filter { $0.hasPrefix("|") }.dropFirst(2)
    return try lines.map { line -> Row in
      let match = try #require(line.wholeMatch(of: /\| `([a-z_]+)` \| (\d{3}) \| (\S.*\.) \|/), "\(line)")
      return Row(code: String(match.output.1), status: try #require(Int(match.output.2)))
    }
  }

  @Test("the page has each code of the server once, with its status, and no other row")
  func server() throws {
    let listed = try rows(under: "Codes of the server")
    #expect(listed.count == WebErrorCode.allCases.count)
    #expect(Set(listed) == Set(WebErrorCode.allCases.map { Row(code: $0.rawValue, status: $0.status) }))
  }

  @Test("the page has each code of the forms once, with its status, and no other row")
  func forms() throws {
    let listed = try rows(under: "Codes of the forms")
    let known = PageRefusal.allCases.map { Row(code: $0.rawValue, status: Notice.refused($0).httpStatus) }
    #expect(listed.count == known.count && Set(listed) == Set(known))
  }

  @Test("a head that is refused keeps its status", arguments: [400, 408, 413, 431, 503, 505])
  func heads(status: Int) {
    #expect(WebErrorCode(refusedHead: status).status == status)
  }
}
