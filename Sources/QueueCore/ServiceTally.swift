// Owns how many customers there are of each service, where only a few services are looked at and each soon.
// Invariant: no count is below zero. Who was never counted may leave, and takes nobody else's place in the count of another
// service.

import BankModel

struct ServiceTally: Sendable, Equatable {
  /// By the index of the service; those behind the last one have nobody.
  private(set) var counts: [Int64] = []

  subscript(service: Service) -> Int64 { service.index < counts.count ? counts[service.index] : 0 }

  mutating func add(_ count: Int64 = 1, of service: Service) {
    while counts.count <= service.index { counts.append(0) }
    counts[service.index] += count
  }

  mutating func add(_ others: ServiceTally) {
    for (index, count) in others.counts.enumerated() where count > 0 { add(count, of: Service(index: index)) }
  }

  mutating func remove(of service: Service) {
    if self[service] > 0 { counts[service.index] -= 1 }
  }
}
