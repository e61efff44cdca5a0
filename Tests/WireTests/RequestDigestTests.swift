// The digest by which a repeated request is recognised: of its contents alone, and permanent, because it is
// stored on disk.

import BankModel
import Testing

@testable import Wire

@Suite("The digest of a request")
struct RequestDigestTests {
  private func order(_ change: (inout EnqueueParameters) -> Void = { _ in }) -> Int64 {
    var order = EnqueueParameters(
      count: 5, service: .loan, priority: .vip, amount: 50_000, account: 12, seed: 7, key: "k", itemName: nil)
    change(&order)
    return order.digest(for: order.service.flatMap { ServiceDirectory()[$0] })
  }

  @Test("it has its permanent value")
  func golden() {
    #expect(order() == -2_469_585_380_069_637_829)
    let bare = EnqueueParameters(
      count: 1, service: nil, priority: .regular, amount: nil, account: nil, seed: 9, key: "k",
      itemName: "키위",
      hasExplicitSeed: true)
    #expect(bare.digest(for: nil) == 9_086_697_341_557_051_177)
    #expect(order { $0.payload = [1, 2, 255] } == 5_074_013_230_351_826_071)
  }

  @Test("any other request has another digest")
  func parts() {
    let numbers = [
      order(), order { $0.count = 6 }, order { $0.service = .deposit }, order { $0.service = nil },
      order { $0.priority = .regular }, order { $0.amount = 1 }, order { $0.amount = nil },
      order { $0.account = 13 },
      order { $0.account = nil }, order { $0.itemName = "x" },
      order { $0.payload = [] }, order { $0.payload = [0] }, order { $0.payload = [0, 0] },
      order { $0.payload = Array("x".utf8) },
      order { $0.dueAt = 0 }, order { $0.dueAt = 5 }, order { $0.delay = 0 }, order { $0.delay = 5 },
    ]
    #expect(Set(numbers).count == numbers.count)
  }

  @Test("a key is not a part of it, nor a seed that was not chosen or that draws nothing")
  func noParts() {
    #expect(order { $0.key = "other" } == order())
    #expect(order { $0.seed = 8 } == order())
    #expect(order { $0.itemName = "" } == order())
    // Nothing is drawn, so the seed changes nothing.
    #expect(order { $0.hasExplicitSeed = true } == order())
    let drawn = order { $0.amount = nil }
    #expect(order { ($0.amount, $0.seed) = (nil, 8) } == drawn)
    #expect(order { ($0.amount, $0.hasExplicitSeed) = (nil, true) } != drawn)
    #expect(
      order { ($0.amount, $0.seed, $0.hasExplicitSeed) = (nil, 8, true) }
        != order { ($0.amount, $0.seed, $0.hasExplicitSeed) = (nil, 9, true) })
  }

  @Test("a customer of a list is a request for one such customer, and random choices are not a part of it")
  func entries() {
    var entry = EnqueueEntry(service: .loan, priority: .vip, amount: 50_000, account: 12, key: "k", drawn: [])
    #expect(entry.digest(for: .loan) == order { $0.count = 1 })
    entry.payload = [9]
    #expect(entry.digest(for: .loan) == order { ($0.count, $0.payload) = (1, [9]) })
    entry.payload = nil
    (entry.dueAt, entry.delay) = (nil, 5)
    #expect(entry.digest(for: .loan) == order { ($0.count, $0.delay) = (1, 5) })
    (entry.dueAt, entry.delay) = (5, nil)
    #expect(entry.digest(for: .loan) == order { ($0.count, $0.dueAt) = (1, 5) })
    entry.dueAt = nil
    entry.drawn = .amount
    #expect(entry.digest(for: .loan) == order { ($0.count, $0.amount) = (1, nil) })
    let drawn = entry.digest(for: .loan)
    entry.amount = 3
    #expect(entry.digest(for: .loan) == drawn)
    entry.drawn = nil
    #expect(entry.digest(for: .loan) == nil, "a client that does not report its random choices is not judged")
  }
}
