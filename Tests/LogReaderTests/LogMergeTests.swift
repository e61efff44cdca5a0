// The merge of logs, without any file: order, stability, completeness.

import BankModel
import Testing

@testable import Logging

/// Records in an array, some of which come later.
private final class ArraySource: LogSource {
  var records: ArraySlice<LogRecord>

  init(_ records: [LogRecord]) { self.records = records[...] }

  func next() throws(LogFailure) -> LogRecord? { records.popFirst() }
}

@Suite("The merge of logs") struct LogMergeTests {
  private func record(_ worker: String, _ time: Int64, _ text: String = "") -> LogRecord {
    LogRecord(worker: worker, time: time, line: Array(text.utf8))
  }

  @Test("orders lines by time, at the same time by name, and within a log as they are") func order() throws {
    let loan = ArraySource([record("loan-1", 1, "a"), record("loan-1", 3, "b"), record("loan-1", 3, "c")])
    let deposit = ArraySource([record("deposit-1", 3, "d"), record("deposit-1", 4, "e")])
    var merge = LogMerge([loan, deposit])
    try merge.refill()
    var text = ""
    while let next = try merge.next() { text += String(decoding: next.line, as: UTF8.self) }
    #expect(text == "adbce")
  }

  @Test("equals a plain sort of all lines, for any logs") func property() throws {
    var random = SeededGenerator(seed: testSeed("merge"))
    for _ in 0..<300 {
      let expected = naiveMerge(randomLogs(&random, clocksGoBack: true))
      let shelves = Dictionary(grouping: expected, by: \.worker).values.map { ArraySource($0) }
      var merge = LogMerge(shelves.shuffled(using: &random))
      try merge.refill()
      var merged: [LogRecord] = []
      while let next = try merge.next() { merged.append(next) }
      #expect(merged == expected)
    }
  }

  @Test("resumes a source that had run dry, and adds one that joins later") func refill() throws {
    let early = ArraySource([record("loan-1", 1)])
    var merge = LogMerge([early])
    try merge.refill()
    #expect(try merge.next()?.time == 1)
    #expect(try merge.next() == nil)
    early.records = [record("loan-1", 5)]
    merge.add(ArraySource([record("deposit-1", 4)]))
    #expect(try merge.next() == nil)
    try merge.refill()
    #expect(merge.first?.time == 4)
    #expect(try merge.next()?.time == 4)
    #expect(try merge.next()?.time == 5)
    #expect(try merge.next() == nil)
  }

  @Test("of no sources is empty") func empty() throws {
    var merge = LogMerge<ArraySource>([])
    try merge.refill()
    #expect(try merge.next() == nil)
  }
}
