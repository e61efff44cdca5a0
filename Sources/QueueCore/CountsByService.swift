// Number of customers per service, in an array that ends with the last service that was counted.
// Invariant: no count is negative. Removing a customer of a service without counted customers changes nothing.

import BankModel

struct CountsByService: Sendable, Equatable {
  /// Counts by the index of the service; services beyond the end have 0.
  private(set) var counts: [Int64] = []

  subscript(service: Service) -> Int64 { service.index < counts.count ? counts[service.index] : 0 }

  mutating func add(_ count: Int64 = 1, of service: Service) {
    while counts.count <= service.index { counts.append(0) }
    counts[service.index] += count
  }

  mutating func add(_ others: CountsByService) {
    for (index, count) in others.counts.enumerated() where count > 0 { add(count, of: Service(index: index)) }
  }

  mutating func remove(of service: Service) {
    if self[service] > 0 { counts[service.index] -= 1 }
  }
}
