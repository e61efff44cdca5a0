// Very many who look on beside a bank that serves as fast as it can: whoever is served does not pay for them.
import Foundation
import Glibc
import Synchronization
import Testing

@Suite("Very many who look on", .serialized)
struct CrowdOfFollowersTests {
  /// Clients who follow everything, and read all that they are told on a thread of their own.
  private final class Crowd: @unchecked Sendable {
    private let clients: [RawClient]
    /// Bytes that each was told; only the thread writes, and whoever asks reads an old number at worst.
    private let told: [Atomic<Int>.Box]
    private let isOver = Atomic<Bool>(false)
    private let hasEnded = DispatchSemaphore(value: 0)

    /// - Parameter viewers: four of them share a connection, which is what one may have.
    init(_ branch: Branch, viewers: Int) throws {
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

    /// Bytes that the one was told who was told least.
    var least: Int { told.map { $0.value.load(ordering: .relaxed) }.min() ?? 0 }

    func leave() {
      isOver.store(true, ordering: .relaxed)
      hasEnded.wait()
    }
  }

  @Test("two hundred and fifty who follow everything leave the bank half of its throughput, and are told")
  func followers() throws {
    try withBranch { branch in
      try branch.start("--deposit", "2", "--loan", "0", "--speed", "max")
      try branch.done("pause", "deposit")
      try branch.done("enqueue", "150000", "--service", "deposit")
      try branch.done("resume", "deposit")
      try branch.waitUntil("some are served") { try branch.status().queue("served") >= 500 }
      // They have an eighth of the coordinator's time. What else uses the machine spoils one round and not the next, and
      // does not make up for the third that is left where their time has no bound.
      var shares: [Double] = []
      while shares.count < 5, shares.max() ?? 0 < 0.5 {
        let alone = try branch.pace(of: 4_000, within: .seconds(10))
        let crowd = try Crowd(branch, viewers: 250)
        try branch.waitUntil("everybody is told something") { crowd.least > 200 }
        let beside = try branch.pace(of: 4_000, within: .seconds(10))
        crowd.leave()
        shares.append(beside / alone)
      }
      #expect(shares.max() ?? 0 >= 0.5, "beside them it served \(shares) of what it served alone")
      #expect(try branch.status().queue("waiting") > 0, "nobody was left to be served")
    }
  }
}

extension Atomic<Int> {
  /// One of many.
  fileprivate final class Box: Sendable { let value = Atomic<Int>(0) }
}
