// Large requests in the simulated server: slices that arrive, tickets for complete requests, and the unpacking of their
// customers afterwards.
// Invariant: the effects are those of the production statements, except for planted bugs.

#if HAS_POSTGRES
  import BankModel
  import Postgres
  import PostgresStore

  extension DatabaseServer {
    /// Identifies a request: its branch, the epoch in which it was first sent, and its number.
    struct RequestID: Hashable {
      var branch, epoch, number: Int64
    }

    /// One part of a large request: its customers, and the number of customers in the parts before it.
    struct RequestSlice {
      var before: Int64
      var arriving: CustomerColumns
      var keys: [String?]
      var digests: [Int64]
    }

    /// A large request that has its tickets, but whose customers are not all in the table yet.
    struct Batch {
      var name: RequestID
      var first, next, last, issued: Int64
      var lanes: [Int64]
    }

    /// Stores a slice of a large request, unless it is stored already.
    func arrive(_ call: PostgresCall) -> [[PostgresValue]] {
      guard isPresent(call.owner) else { return [[.boolean(false)]] }
      let name = RequestID(branch: call.owner.branch, epoch: call.integer(2), number: call.integer(3))
      let slice = RequestSlice(
        before: call.integer(5), arriving: CustomerColumns(call, from: 9), keys: call.texts(15),
        digests: call.integers(16))
      if arriving[name]?[call.integer(4)] == nil { arriving[name, default: [:]][call.integer(4)] = slice }
      world.statistics.slices += 1
      return [[.boolean(true)]]
    }

    /// Returns the stored slices of a request, in order.
    private func slices(_ name: RequestID) -> [RequestSlice] {
      (arriving[name] ?? [:]).sorted { $0.key < $1.key }.map(\.value)
    }

    /// True if the stored slices of a request contain this many customers.
    private func isWhole(_ name: RequestID, _ count: Int64) -> Bool {
      slices(name).reduce(0) { $0 + Int64($1.arriving.bases.count) } == count
    }

    /// Assigns tickets to a request whose slices have all arrived. The customers are unpacked later.
    func issue(_ call: PostgresCall) -> [[PostgresValue]] {
      let name = RequestID(branch: call.owner.branch, epoch: call.integer(7), number: call.integer(8))
      let count = call.integer(5)
      return enqueueCustomers(call, whole: isWhole(name, count)) { range in
        add(LaneCounts(), call.owner, call.integer(2), lane: 0)
        batches.append(
          Batch(
            name: name, first: range.first, next: range.first, last: range.last, issued: call.integer(6),
            lanes: call.integers(9)))
      }
    }

    /// Assigns tickets to a list whose slices have all arrived.
    func issueList(_ call: PostgresCall) -> [[PostgresValue]] {
      let name = RequestID(branch: call.owner.branch, epoch: call.integer(4), number: call.integer(5))
      let parts = slices(name)
      var all = CustomerColumns()
      for slice in parts { all.append(slice.arriving) }
      return takeInList(
        call, all, keys: parts.flatMap(\.keys), digests: parts.flatMap(\.digests),
        whole: isWhole(name, call.integer(6)))
    }

    /// Adds the customers of the next slice of a request with tickets. Returns true if slices are left.
    func unpack(_ call: PostgresCall) -> [[PostgresValue]] {
      let name = RequestID(branch: call.integer(0), epoch: call.integer(1), number: call.integer(2))
      guard let place = batches.firstIndex(where: { $0.name == name }),
        let (part, slice) = (arriving[name] ?? [:]).min(by: { $0.key < $1.key })
      else { return [[.boolean(false), .integer(0)]] }
      var batch = batches[place]
      let told = Set(batch.lanes).filter { !hasUnclaimed($0) }
      for index in slice.arriving.bases.indices {
        add(
          index, of: slice.arriving, as: batch.first + slice.before + Int64(index), issued: batch.issued,
          for: nil, BranchOwner(branch: name.branch, epoch: 0), 0)
      }
      arriving[name]?[part] = nil
      batch.next = batch.first + slice.before + Int64(slice.arriving.bases.count)
      let isLeft = batch.next <= batch.last && !hasPlantedBug(.unpacksFirstSliceOnly)
      if isLeft {
        batches[place] = batch
      } else {
        batches.remove(at: place)
        arriving[name] = nil
      }
      world.statistics.unpacked += 1
      for lane in (isLeft ? told : Set(batch.lanes)).sorted() { world.network.notify("\(lane)") }
      return [[.boolean(isLeft), .integer(0)]]
    }

    /// First ticket of a lane that may not be claimed yet, because a large request is still being unpacked into the
    /// lane; `.max` if there is none.
    func gate(_ lane: Int64) -> Int64 {
      if hasPlantedBug(.claimsPastUnpacked) { return .max }
      return batches.lazy.filter { $0.lanes.contains(lane) }.map(\.next).min() ?? .max
    }

    /// Returns the requests that a branch must unpack: its own, and those of branches that are closed or whose lease
    /// has run out.
    func lookAtBatches(_ call: PostgresCall) -> [[PostgresValue]] {
      batches.filter { batch in
        batch.name.branch == call.integer(0)
          || !branches.contains { $0.id == batch.name.branch && !$0.isClosed && $0.expires > now }
      }.map { [.integer($0.name.branch), .integer($0.name.epoch), .integer($0.name.number)] }
    }

    /// Deletes the slices of a branch's requests that it does not continue and that have no tickets.
    func deleteSlices(_ call: PostgresCall) -> [[PostgresValue]] {
      guard isPresent(call.owner) else { return [[.boolean(false), .integer(0)]] }
      let kept = Set(zip(call.integers(2), call.integers(3)).map { [$0, $1] })
      for name in arriving.keys
      where name.branch == call.owner.branch && !kept.contains([name.epoch, name.number]) {
        if !batches.contains(where: { $0.name == name }) { arriving[name] = nil }
      }
      return [[.boolean(true), .integer(0)]]
    }

    /// Deletes the slices without tickets of the branch whose epoch this transaction has ended.
    func deleteSlicesOfEndedEpoch(_ transaction: TransactionState) -> [[PostgresValue]] {
      guard let branch = transaction.fencing else { return [] }
      for name in arriving.keys where name.branch == branch && !batches.contains(where: { $0.name == name }) {
        arriving[name] = nil
      }
      return []
    }

    /// True if slices of a branch's requests are stored for which no tickets were issued.
    func hasLeftSlices(_ branch: Int64) -> Bool {
      arriving.keys.contains { name in name.branch == branch && !batches.contains { $0.name == name } }
    }

    /// Customers with tickets who are not unpacked yet, by branch and lane.
    func pendingCounts() -> [[Int64]: LaneCounts] {
      var sums: [[Int64]: LaneCounts] = [:]
      for batch in batches {
        for slice in (arriving[batch.name] ?? [:]).values {
          for base in slice.arriving.bases {
            let lane = PostgresPosition.lane(base)
            sums[[batch.name.branch, lane], default: LaneCounts()] +=
              base >> 60 == 2 ? LaneCounts(issued: 1, delayed: 1) : LaneCounts(issued: 1, waiting: 1)
          }
        }
      }
      return sums
    }
  }
#endif
