// The simulated volume: what a process sees and what is durable, names, torn sectors, failures, room, locks,
// and SQLite on it. A test with random choices tries many seeds, and always the same.

import BankModel
import CSQLite
import Glibc
import Storage
import Testing
import Time

@testable import Simulator

@Suite("A simulated volume")
struct VolumeTests {
  final class Connection {
    private let volume: SimulatedVolume
    private var handle: OpaquePointer?

    init(_ volume: SimulatedVolume) {
      self.volume = volume
      let flags = SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE | SQLITE_OPEN_NOMUTEX
      // If the process is gone already, nothing works.
      #expect(sqlite3_open_v2("/a.db", &handle, flags, volume.vfs) == SQLITE_OK || volume.isDead)
      sqlite3_extended_result_codes(handle, 1)
    }

    deinit { sqlite3_close_v2(handle) }

    @discardableResult
    func run(_ sql: String) -> Int32 { sqlite3_exec(handle, sql, nil, nil, nil) }

    /// The number in the first column of the first row; nil if there is none.
    func number(_ sql: String) -> Int64? {
      var statement: OpaquePointer?
      guard sqlite3_prepare_v2(handle, sql, -1, &statement, nil) == SQLITE_OK else { return nil }
      defer { sqlite3_finalize(statement) }
      return sqlite3_step(statement) == SQLITE_ROW ? sqlite3_column_int64(statement, 0) : nil
    }

    var isSound: Bool {
      number("SELECT count(*) FROM pragma_integrity_check WHERE integrity_check <> 'ok'") == 0
    }
  }

  private static let settings: [String] = [
    "PRAGMA locking_mode = EXCLUSIVE; PRAGMA journal_mode = WAL; PRAGMA synchronous = FULL",
    "PRAGMA journal_mode = DELETE; PRAGMA synchronous = EXTRA",
  ]

  private func bytes(_ count: Int, _ byte: UInt8) -> [UInt8] { [UInt8](repeating: byte, count: count) }

  @Test(
    "a killed process loses nothing that it has written; a power loss loses what was not synced"
  )
  func crashes() {
    for losingPower in [false, true] {
      var outcomes: Set<[UInt8]> = []
      for seed in 0..<40 as Range<UInt64> {
        let volume = SimulatedVolume(seed: seed)
        #expect(volume.create("/a") == 0)
        guard let file = volume.file("/a") else { return }
        bytes(4, 1).withUnsafeBytes { file.write($0, at: 0) }
        #expect(volume.sync(file, names: true))
        bytes(4, 2).withUnsafeBytes { file.write($0, at: 4) }
        volume.endProcess(losingPower: losingPower) {}
        outcomes.insert(volume.file("/a")?.seen ?? [])
      }
      #expect(
        outcomes == (losingPower ? [bytes(4, 1), bytes(4, 1) + bytes(4, 2)] : [bytes(4, 1) + bytes(4, 2)]))
    }
  }

  @Test("after a power loss any of the unsynced sectors may be there, each old or new as a whole")
  func tears() {
    var patterns: Set<[Bool]> = []
    for seed in 0..<200 as Range<UInt64> {
      let volume = SimulatedVolume(seed: seed)
      #expect(volume.create("/a") == 0)
      guard let file = volume.file("/a") else { return }
      let sector = volume.sector
      bytes(4 * sector, 1).withUnsafeBytes { file.write($0, at: 0) }
      #expect(volume.sync(file, names: true) && file.isSynced)
      // From the middle of the first one to the middle of the last one: no other byte may change.
      bytes(3 * sector, 2).withUnsafeBytes { file.write($0, at: sector / 2) }
      volume.endProcess(losingPower: true) {}
      let found = volume.file("/a")?.seen ?? []
      #expect(found.count == 4 * sector && found.first == 1 && found.last == 1)
      let pieces = [
        sector / 2..<sector, sector..<2 * sector, 2 * sector..<3 * sector, 3 * sector..<7 * sector / 2,
      ]
      for piece in pieces { #expect(Set(found[piece]).count == 1, "a sector is torn with seed \(seed)") }
      patterns.insert(pieces.map { found[$0.lowerBound] == 2 })
    }
    #expect(patterns.contains([true, true, true, true]) && patterns.contains([false, false, false, false]))
    #expect(patterns.contains([true, true, false, false]) && patterns.contains([false, true, false, true]))
  }

  @Test("a name is durable when the directory is, and the lost names are the last ones")
  func names() {
    var outcomes: Set<[Bool]> = []
    for seed in 0..<60 as Range<UInt64> {
      let volume = SimulatedVolume(seed: seed)
      for name in ["/a", "/b", "/c"] { #expect(volume.create(name) == 0) }
      #expect(volume.create("/a") == 0, "an existing file stays")
      for name in ["/a", "/b", "/c"] {
        guard let file = volume.file(name) else { return }
        #expect(volume.sync(file, names: name == "/a" && seed % 2 == 0))
      }
      volume.give("/a", nil)
      volume.endProcess(losingPower: true) {}
      let found = ["/a", "/b", "/c"].map { !volume.isMissing($0) }
      #expect(seed % 2 == 1 || found[1] && found[2])
      outcomes.insert(found)
    }
    #expect(outcomes.contains([false, false, false]) && outcomes.contains([true, true, true]))
    #expect(outcomes.contains([true, false, false]) && outcomes.contains([false, true, true]))
    #expect(!outcomes.contains([false, false, true]) && !outcomes.contains([true, false, true]))
  }

  @Test(
    "SQLite finds after each power loss what it has committed, and nothing uncommitted",
    arguments: settings)
  func commits(_ settings: String) {
    for seed in 0..<12 as Range<UInt64> {
      let volume = SimulatedVolume(seed: seed)
      var chance = SeededGenerator(seed: seed)
      var committed: Int64 = 0
      for life in 0..<4 {
        volume.callsUntilKill = Int(chance.draw(0...60))
        var connection: Connection? = Connection(volume)
        connection?.run(settings)
        connection?.run("CREATE TABLE IF NOT EXISTS t (a INTEGER PRIMARY KEY, b BLOB)")
        for number in committed + 1..<committed + 8 {
          let code = connection?.run("INSERT INTO t VALUES (\(number), randomblob(5000))")
          if code == SQLITE_OK { committed = number } else { break }
        }
        volume.endProcess(losingPower: chance.draw(0...3) > 0) { connection = nil }
        connection = Connection(volume)
        connection?.run(settings)
        // What a killed process has not synced is read, and is durable with the next commit, as the bank's
        // count of starts.
        connection?.run("PRAGMA user_version = \(life + 1)")
        let found = connection?.number("SELECT count(*) FROM t") ?? 0
        #expect(connection?.isSound == true, "seed \(seed), life \(life)")
        // The one in flight may be there.
        #expect((committed...committed + 1).contains(found), "seed \(seed), life \(life)")
        committed = found
        volume.endProcess(losingPower: false) { connection = nil }
      }
    }
  }

  @Test("without syncs SQLite loses what it has committed")
  func unsynced() {
    var losses = 0
    for seed in 0..<20 as Range<UInt64> {
      let volume = SimulatedVolume(seed: seed)
      var connection: Connection? = Connection(volume)
      connection?.run("PRAGMA locking_mode = EXCLUSIVE; PRAGMA journal_mode = WAL; CREATE TABLE t (a)")
      connection?.run("PRAGMA synchronous = OFF")
      for number in 1...8 { #expect(connection?.run("INSERT INTO t VALUES (\(number))") == SQLITE_OK) }
      volume.endProcess(losingPower: true) { connection = nil }
      connection = Connection(volume)
      connection?.run("PRAGMA locking_mode = EXCLUSIVE")
      if connection?.number("SELECT count(*) FROM t") != 8 { losses += 1 }
      volume.endProcess(losingPower: false) { connection = nil }
    }
    #expect(losses > 5)
  }

  @Test("a full volume, a single failure of write or sync, and a slow one are reported to SQLite")
  func failures() {
    let volume = SimulatedVolume(seed: 1)
    var connection: Connection? = Connection(volume)
    connection?.run("PRAGMA locking_mode = EXCLUSIVE; PRAGMA journal_mode = WAL; CREATE TABLE t (a)")
    let insert = "INSERT INTO t VALUES (randomblob(9000))"
    volume.isFull = true
    #expect(volume.free == 0)
    #expect(connection?.run(insert) == SQLITE_FULL)
    volume.isFull = false
    #expect(connection?.run(insert) == SQLITE_OK)
    volume.fail(.write, number: 2)
    #expect(connection?.run(insert) == SQLITE_IOERR | 3 << 8)
    #expect(connection?.run(insert) == SQLITE_OK)
    volume.fail(.sync)
    #expect(connection?.run(insert) == SQLITE_IOERR | 4 << 8)
    #expect(connection?.run(insert) == SQLITE_OK)
    var slow: [TimeSpan] = []
    volume.onSlowSync = { slow.append($0) }
    volume.slowSync = .seconds(3)
    #expect(connection?.run(insert) == SQLITE_OK)
    #expect(connection?.run(insert) == SQLITE_OK)
    #expect(slow == [.seconds(3)])
    #expect(connection?.number("SELECT count(*) FROM t") == 5)
    volume.endProcess(losingPower: false) { connection = nil }
  }

  @Test("connections lock each other out as on a real disk, until the process is gone")
  func locks() {
    let volume = SimulatedVolume(seed: 2)
    var (first, second): (Connection?, Connection?) = (Connection(volume), Connection(volume))
    #expect(first?.run("CREATE TABLE t (a); BEGIN IMMEDIATE; INSERT INTO t VALUES (1)") == SQLITE_OK)
    #expect(second?.run("SELECT count(*) FROM t") == SQLITE_OK)
    #expect(second?.run("BEGIN IMMEDIATE") == SQLITE_BUSY)
    #expect(first?.run("COMMIT") == SQLITE_OK)
    #expect(second?.run("BEGIN EXCLUSIVE; INSERT INTO t VALUES (2)") == SQLITE_OK)
    #expect(first?.run("SELECT count(*) FROM t") == SQLITE_BUSY)
    volume.endProcess(losingPower: false) { (first, second) = (nil, nil) }
    first = Connection(volume)
    #expect(first?.number("SELECT count(*) FROM t") == 1)
    volume.endProcess(losingPower: false) { first = nil }
  }

  @Test("reserved room is not used by others, and survives the process")
  func reserve() {
    let volume = SimulatedVolume(seed: 3)
    let reserve = volume.reserve(at: "/a-reserve")
    let free = volume.free
    #expect(reserve.grow(to: 1 << 20) && volume.free == free - 1 << 20)
    #expect(!reserve.grow(to: 1 << 40) && reserve.size == 1 << 20)
    volume.isFull = true
    reserve.cut(to: 1 << 10)
    #expect(volume.free == 1 << 20 - 1 << 10)
    volume.endProcess(losingPower: false) {}
    #expect(volume.reserve(at: "/a-reserve").size == 1 << 10)
  }
}
