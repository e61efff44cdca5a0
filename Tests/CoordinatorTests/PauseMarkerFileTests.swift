// The note of why services have paused: it is read as it was written, or refused.

import BankModel
import PosixFixture
import Testing

@testable import Coordinator

@Suite("The note of why services have paused") struct PauseMarkerFileTests {
  @Test("a stored note is read as the same, with any text as the reason") func kept() throws {
    let directory = try TemporaryDirectory("bank-pauses")
    let path = directory.file("pauses")
    #expect(PauseMarkerFile.read(from: path).isEmpty)
    let reasons = [
      try #require(ServiceName("mail")): "no program \"/no/such\"\nend\n",
      try #require(ServiceName("fax.v2")): "",
      try #require(ServiceName("thumbs")): "프로그램이 없음\u{0}",
    ]
    PauseMarkerFile.write(reasons, at: path)
    #expect(PauseMarkerFile.read(from: path) == reasons)
    PauseMarkerFile.write([:], at: path)
    #expect(PauseMarkerFile.read(from: path).isEmpty)
  }

  @Test(
    "a note that is damaged is not read",
    arguments: [
      "", "mail 3\nabc\n", "mail 4\nabc\nend\n", "mail x\nabc\nend\n", "mail -1\n\nend\n", "end\nmore\n",
      "Mail 0\n\nend\n",
    ])
  func refused(text: String) { #expect(PauseMarkerFile.parse(Array(text.utf8)) == nil) }
}
