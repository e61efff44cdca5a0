// Files that grow during a view: shown lines keep their numbers, and no more is read than a page shows.

import Glibc
import Posix
import PosixFixture
import Testing

@testable import WebInterface

@Suite("Files that grow")
struct FileTailTests {
  private func append(_ text: String, to path: String) throws {
    try FileDescriptor.open(path, [.writeOnly, .create, .append]).writeAll(Array(text.utf8))
  }

  @Test("a log's last lines keep their numbers as it grows, and an incomplete line is not shown")
  func log() throws {
    let directory = try TemporaryDirectory()
    #expect(FileTail.log("loan-1", in: directory.path) == nil)
    for number in 0..<5_000 { try append("line \(number) of a log\n", to: directory.file("loan-1.log")) }
    try append("half", to: directory.file("loan-1.log"))
    let first = try #require(FileTail.log("loan-1", in: directory.path))
    #expect(first.count == FileTail.lines && first.last?.text == "line 4999 of a log")
    try append(" and whole\n", to: directory.file("loan-1.log"))
    let second = try #require(FileTail.log("loan-1", in: directory.path))
    #expect(Array(first.dropFirst()) == Array(second.dropLast()) && second.last?.text == "half and whole")
  }

  @Test("pieces of output are whole lines with the same number each time, and old ones are cut off")
  func output() throws {
    let directory = try TemporaryDirectory()
    try Directory.create(path: directory.file("3"))
    let path = directory.file("3/7.out")
    #expect(FileTail.output(ofTicket: 7, day: 3, in: directory.path).chunks.isEmpty)
    var text = ""
    for number in 0..<400 {
      let line = "번호 \(number)\n"
      text += line
      try append(line, to: path)
    }
    let first = FileTail.output(ofTicket: 7, day: 3, in: directory.path)
    #expect(!first.isCut && first.chunks.map(\.text).joined() == text)
    try append(String(repeating: "x\n", count: 10), to: path)
    let second = FileTail.output(ofTicket: 7, day: 3, in: directory.path)
    #expect(second.chunks.prefix(first.chunks.count - 1) == first.chunks.dropLast())
    #expect(second.chunks.map(\.number) == second.chunks.map(\.number).sorted())
    try append(String(repeating: "long line\n", count: 20_000), to: path)
    let third = FileTail.output(ofTicket: 7, day: 3, in: directory.path)
    #expect(third.isCut && third.chunks.reduce(0) { $0 + $1.text.utf8.count } <= FileTail.tailSize + 4_096)
    try append("wrong\n", to: directory.file("3/7.err"))
    #expect(FileTail.output(ofTicket: 7, day: 3, in: directory.path).chunks.last?.isError == true)
  }
}
