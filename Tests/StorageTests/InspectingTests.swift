// Inspection of a database: nothing of it changes, in any version, closed or killed.
import BankModel
import CSQLite
import Glibc
import QueueCore
import Testing
import Time

@testable import Storage

@Suite("Inspection of a database")
struct InspectingTests {
  private let now = WallTime(milliseconds: 5)

  private func contents(_ scratch: Scratch) -> [String: [UInt8]] {
    var found: [String: [UInt8]] = [:]
    for name in scratch.names { found[name] = Scratch.bytes(of: "\(scratch.path)/\(name)") }
    return found
  }

  @Test("one of an older version is read, and stays of that version byte for byte", arguments: [true, false])
  func older(isKilled: Bool) throws {
    let scratch = Scratch()
    let database = try scratch.firstVersion()
    let place = isKilled ? scratch.copyAfterKill() : scratch
    if isKilled { database.abandon() } else { database.close() }
    let before = contents(place)
    #expect((before["bank.db-wal"] != nil) == isKilled)
    do {
      let store = try SQLiteStore(inspecting: place.database)
      #expect(try store.load(now: now).dayCounters.waitingInAll == 1)
      #expect(try store.audit().problems == [])
      #expect(contents(place) == before)
    }
    #expect(contents(place) == before)
  }

  @Test("one of the present version is read in place, and its log is not copied into it")
  func present() throws {
    let branch = try StoreFixture(.sqlite)
    try branch.arrive(.deposit)
    try branch.commit()
    let place = branch.scratch.copyAfterKill()
    let before = contents(place)
    #expect(before["bank.db-wal"] != nil)
    do {
      let store = try SQLiteStore(inspecting: place.database)
      #expect(try store.load(now: now).dayCounters.waitingInAll == 1)
      #expect(contents(place) == before)
    }
    #expect(contents(place) == before)
    let whole = try SQLiteStore(path: place.database)
    try whole.close()
    let closed = contents(place)
    #expect(closed["bank.db-wal"] == nil)
    let store = try SQLiteStore(inspecting: place.database)
    #expect(store.database.isReadOnly)
    #expect(try store.load(now: now).dayCounters.waitingInAll == 1)
    #expect(try store.audit().problems == [])
    #expect(contents(place) == closed)
  }

  @Test(
    "damage is named by the inspected file, and a newer version is refused", arguments: [true, false])
  func refused(isKilled: Bool) throws {
    let scratch = Scratch()
    Scratch.write(Array(repeating: 0x5A, count: 8_192), to: scratch.database)
    // With a log a copy is opened.
    if isKilled { Scratch.write([1], to: scratch.database + "-wal") }
    #expect(throws: StoreError.damaged(path: scratch.database, detail: MessageDetail(.notSQLite))) {
      _ = try SQLiteStore(inspecting: scratch.database)
    }
    let newer = Scratch()
    let database = try newer.firstVersion()
    try database.execute("PRAGMA user_version = 99", while: "growing newer")
    let place = isKilled ? newer.copyAfterKill() : newer
    if isKilled { database.abandon() } else { database.close() }
    let before = contents(place)
    #expect((before["bank.db-wal"] != nil) == isKilled)
    let refusal = StoreError.newerSchema(path: place.database, found: 99, known: Schema.bank.version)
    #expect(throws: refusal) { _ = try SQLiteStore(inspecting: place.database) }
    #expect(contents(place) == before)
  }

  @Test("a copy left by a killed process is removed by the next, and one in use is not")
  func leftCopies() throws {
    let scratch = Scratch()
    let place = scratch.path
    func entries() -> [String] { scratch.names.filter { $0.hasPrefix("bank-copy-") }.sorted() }
    let left = ["\(place)/bank-copy-killed", "\(place)/bank-copy-younger"]
    for directory in left {
      mkdir(directory, 0o700)
      for name in ["copy", "copy-wal"] { Scratch.write([1, 2, 3], to: "\(directory)/\(name)") }
    }
    // Files that are not part of a copy are not removed.
    let strange = "\(place)/bank-copy-strange"
    mkdir(strange, 0o700)
    Scratch.write([1], to: "\(strange)/letter")
    defer {
      unlink("\(strange)/letter")
      rmdir(strange)
    }
    symlink(strange, "\(place)/bank-copy-link")
    var atWork: InspectionCopyDirectory? = try InspectionCopyDirectory.make(in: place).get()
    let copy = try #require(atWork?.database)
    Scratch.write([1], to: copy)
    InspectionCopyDirectory.sweep(place)
    #expect(entries().count == 3 && access(copy, F_OK) == 0)
    #expect(left.allSatisfy { access($0, F_OK) != 0 } && access("\(strange)/letter", F_OK) == 0)
    atWork = nil
    #expect(entries() == ["bank-copy-link", "bank-copy-strange"])
    unlink("\(place)/bank-copy-link")
  }
}
