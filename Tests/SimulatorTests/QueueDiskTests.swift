// The production store, which keeps the queue in a share of the histories, through crashes and losses of
// power. The planted bugs show that a bad store would be found.

import BankModel
import QueueCore
import Storage
import Testing
import Time

@testable import Simulator

@Suite("The queue's disk in a history")
struct QueueDiskTests {
  @Test("one history of eight has the production store")
  func share() {
    let count = (1...800 as ClosedRange<UInt64>).count { QueueDisk(seed: $0).volume != nil }
    #expect((70...130).contains(count), "\(count) of 800")
  }

  @Test("it keeps every promise through losses of power")
  func keepsPromises() {
    var statistics = Statistics()
    var places = Set<ObjectIdentifier>()
    for seed in (1...400 as ClosedRange<UInt64>).lazy.filter({ QueueDisk(seed: $0).volume != nil }).prefix(10)
    {
      let outcome = Simulation.run(
        seed: seed,
        inspect: { world in
          if let store = world.disk.store { places.insert(ObjectIdentifier(type(of: store))) }
        })
      #expect(
        outcome.violation == nil,
        "\(outcome.violation.map(\.description) ?? ""); repeat with: scripts/simulate --seed \(seed) --trace")
      statistics += outcome.statistics
    }
    #expect(places == [ObjectIdentifier(SQLiteStore.self)])
    #expect(statistics.databaseCommits == statistics.commits && statistics.commits > 200)
    #expect(statistics.count(of: .powerLost) > 5)
  }

  @Test(
    "a start that cannot make the found log durable copies nothing of it", arguments: [false, true])
  func leavesTheLog(isFull: Bool) throws {
    // A volume on which nothing can be overwritten when it is full.
    let volume = try #require(
      (1...40 as ClosedRange<UInt64>).lazy.map { SimulatedVolume(seed: $0) }.first { $0.copiesOnWrite })
    var store: SQLiteStore? = try SQLiteStore(path: "/queue.db", on: volume)
    let dayCounters = try #require(try store?.load(now: WallTime(milliseconds: 1)).dayCounters)
    _ = try store?.recordStart(at: WallTime(milliseconds: 1))
    try store?.commit(dayCounters, arriving: nil)
    volume.endProcess(losingPower: false) { store = nil }
    let (database, log) = (volume.file("/queue.db")?.seen, volume.file("/queue.db-wal")?.seen)
    #expect(log?.isEmpty == false)
    if isFull { volume.isFull = true } else { volume.fail(.sync) }
    #expect(throws: StoreError.self) { try SQLiteStore(path: "/queue.db", on: volume) }
    let isUntouched = volume.file("/queue.db")?.seen == database
    #expect(isUntouched)
    volume.endProcess(losingPower: false) {}
    let isStillThere = volume.file("/queue.db-wal")?.seen == log
    #expect(isStillThere)
  }
}
