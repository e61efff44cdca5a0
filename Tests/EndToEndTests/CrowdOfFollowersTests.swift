// Many followers of a bank at full load: they do not slow down the service of customers.
import Foundation
import Glibc
import Synchronization
import Testing

@Suite("Many followers", .serialized)
struct CrowdOfFollowersTests {
  /// Clients that follow all events and read them on a separate thread.
  private final class Crowd: @unchecked Sendable {
    private let clients: [RawClient]
    /// Bytes that each client has received. Only the thread writes; a reader gets at worst an old number.
    private let told: [Atomic<Int>.Box]
    private let isOver = Atomic<Bool>(false)
    private let hasEnded = DispatchSemaphore(value: 0)

    /// - Parameter viewers: Number of followers; four of them share a connection, which is the limit for one.
    init(_ branch: ScratchBank, viewers: Int) throws {
      clients = try (0..<(viewers + 3) / 4).map { _ in try RawClient(branch, patience: 60) }
      told = clients.map { _ in Atomic<Int>.Box() }
      var left = viewers
      for client in clients {
        client.send(Message.hello().frame)
        for number in 1...Int64(min(4, left)) { client.send(Message.request(number, 9).frame) }
        left -= 4
      }
      Thread.detachNewThread { [self] in
        while !isOver.load(ordering: .relaxed) {
          for (place, count) in RawClient.readAll(clients, patience: 50) {
            told[place].value.add(count, ordering: .relaxed)
          }
        }
        hasEnded.signal()
      }
    }

    /// Bytes of the client that has received the least.
    var least: Int { told.map { $0.value.load(ordering: .relaxed) }.min() ?? 0 }

    func leave() {
      isOver.store(true, ordering: .relaxed)
      hasEnded.wait()
    }
  }

  @Test("two hundred and fifty followers leave the bank half of its throughput, and receive events")
  func followers() throws {
    try withScratchBank { branch in
      try branch.start("--deposit", "2", "--loan", "0", "--speed", "max")
      try branch.runSuccessfully("pause", "deposit")
      try branch.runSuccessfully("enqueue", "150000", "--service", "deposit")
      try branch.runSuccessfully("resume", "deposit")
      try branch.waitUntil("five hundred customers are served") { try branch.status().queue("served") >= 500 }
      // Followers get an eighth of the coordinator's time. Other load on the machine spoils single rounds only, and
      // cannot hide the loss of two thirds that followers cause if their time has no bound.
      var shares: [Double] = []
      while shares.count < 5, shares.max() ?? 0 < 0.5 {
        let alone = try branch.servedPerSecond(of: 4_000, within: .seconds(10))
        let crowd = try Crowd(branch, viewers: 250)
        try branch.waitUntil("every follower has received something") { crowd.least > 200 }
        let beside = try branch.servedPerSecond(of: 4_000, within: .seconds(10))
        crowd.leave()
        shares.append(beside / alone)
      }
      #expect(shares.max() ?? 0 >= 0.5, "with followers it served \(shares) of what it served without")
      #expect(try branch.status().queue("waiting") > 0, "no customer was left to serve")
    }
  }
}

extension Atomic<Int> {
  fileprivate final class Box: Sendable { let value = Atomic<Int>(0) }
}
