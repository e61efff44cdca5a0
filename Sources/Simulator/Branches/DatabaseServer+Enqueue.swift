// Ticket assignment in the simulated server: for a request with one key or none, and for a list whose customers have
// keys.
// Invariant: the tickets are one series. A key or a request gets tickets once, even if the request is repeated in a
// later epoch. Planted bugs can break this.

#if HAS_POSTGRES
  import BankModel
  import Postgres
  import PostgresStore
  import Time

  extension DatabaseServer {
    /// Requested customers: one array for each column of the statement.
    struct CustomerColumns {
      var bases: [Int64] = [], amounts: [Int64] = [], accounts: [Int64] = [], dues: [Int64] = []
      var articles: [String?] = []
      var payloads: [[UInt8]?] = []

      init() {}

      /// Adds the customers of another slice after these.
      mutating func append(_ more: CustomerColumns) {
        bases += more.bases
        amounts += more.amounts
        accounts += more.accounts
        dues += more.dues
        articles += more.articles
        payloads += more.payloads
      }

      /// Reads the six columns that start at this parameter of a call.
      init(_ call: PostgresCall, from index: Int) {
        (bases, amounts) = (call.integers(index), call.integers(index + 1))
        (accounts, dues) = (call.integers(index + 2), call.integers(index + 3))
        (articles, payloads) = (call.texts(index + 4), call.manyBytes(index + 5))
      }
    }

    /// The last ticket of the present day; 0 if none was issued.
    var lastTicket: Int64 { intake.lazy.filter { $0.day == self.day }.map(\.last).max() ?? 0 }

    /// Adds the customer at this index of a request to the table, with its ticket, and counts it in the commit of
    /// `owner`.
    ///
    /// - Parameters:
    ///   - by: the branch that sent the request; nil if the branch may have left.
    ///   - owner: the branch and epoch in whose counters the customer is counted, under the number `commit`.
    func add(
      _ index: Int, of arriving: CustomerColumns, as ticket: Int64, issued: Int64, for by: BranchOwner?,
      _ owner: BranchOwner, _ commit: Int64
    ) {
      let base = arriving.bases[index]
      let due = arriving.dues[index]
      let row = Row(
        ticket: ticket, lane: PostgresPosition.lane(base), amount: arriving.amounts[index],
        account: arriving.articles[index].flatMap(JuiceOrder.init)?.account ?? arriving.accounts[index],
        issued: issued, state: base >> 60,
        due: due == 0 ? nil : due, itemName: arriving.articles[index],
        payload: arriving.payloads[index])
      customers[ticket] = row
      checker.issued(row, by: by)
      add(
        row.state == 2 ? LaneCounts(issued: 1, delayed: 1) : LaneCounts(issued: 1, waiting: 1), owner, commit,
        lane: row.lane)
    }

    /// Returns the lanes of new waiting customers in which no branch can claim a customer yet.
    private func empty(_ bases: [Int64]) -> [Int64] {
      Set(bases.filter { $0 >> 60 == 1 }.map { PostgresPosition.lane($0) }).filter { !hasUnclaimed($0) }
        .sorted()
    }

    /// The next ticket number. A planted bug sometimes skips one.
    private func firstNumber() -> Int64 { lastTicket + 1 + (bugOccurs(.skipsNumbers) ? 1 : 0) }
    /// True while the bank drains, and after the day has ended: only one day is simulated.
    private var rejectsNewRequests: Bool {
      isDraining && !hasPlantedBug(.issuesWhileDraining) || checker.dayHasEnded
    }

    /// Assigns tickets to a request that is sent whole, and adds its customers.
    func enqueueCustomers(_ call: PostgresCall) -> [[PostgresValue]] {
      enqueueCustomers(call, whole: true) { range in
        let arriving = CustomerColumns(call, from: 9)
        let told = empty(arriving.bases)
        for index in 0..<Int(call.integer(5)) {
          add(
            index, of: arriving, as: range.first + Int64(index), issued: call.integer(6), for: call.owner,
            call.owner, call.integer(2))
        }
        for lane in told { world.network.notify("\(lane)") }
      }
    }

    /// Assigns tickets to a request. Each row of the answer starts with a kind, as in the production statement: 0 new
    /// tickets, 1 the tickets of a known key, 2 the tickets that the same request got earlier, 3 a draining bank, 4 a
    /// key used for another request (only for a list), 5 missing slices.
    ///
    /// - Parameters:
    ///   - isWhole: true if all requested customers have arrived.
    ///   - fill: called after the tickets were assigned.
    func enqueueCustomers(
      _ call: PostgresCall, whole isWhole: Bool, _ fill: (IssuedRange) -> Void
    ) -> [[PostgresValue]] {
      guard isPresent(call.owner) else { return [] }
      let (key, digest, count) = (call.text(3), call.optional(4), call.integer(5))
      let (epoch, number) = (call.integer(7), call.integer(8))
      if let range = repeated(call.owner.branch, epoch, number).first {
        world.statistics.repeatedRequests += 1
        return [row(2, range)]
      }
      if let key, let known = known(key, call.owner) {
        return [
          [
            .integer(1), .integer(known.day), .integer(known.first), .integer(known.last),
            known.request.map { .integer($0) } ?? .null, .integer(0),
          ]
        ]
      }
      guard !rejectsNewRequests else {
        return [[.integer(3), .integer(day), .integer(0), .integer(0), .null, .integer(0)]]
      }
      guard isWhole else { return [row(5)] }
      let first = firstNumber()
      let range = IssuedRange(
        first: first, last: first + count - 1, branch: call.owner.branch, key: key, request: digest,
        epoch: epoch,
        number: number, day: day)
      intake.append(range)
      checker.ticketsIssued(range.first...range.last, key: key, isDraining: isDraining)
      fill(range)
      return [row(0, range)]
    }

    /// Returns a row of the answer to a request for tickets, with its kind and no tickets.
    private func row(_ kind: Int64) -> [PostgresValue] {
      [.integer(kind), .integer(day), .integer(0), .integer(0), .null, .integer(0)]
    }

    /// Returns a row of the answer to a request for tickets, with its kind and these tickets.
    private func row(_ kind: Int64, _ range: IssuedRange) -> [PostgresValue] {
      [.integer(kind), .integer(range.day), .integer(range.first), .integer(range.last), .null, .integer(0)]
    }

    /// Returns the tickets that the same request got earlier.
    private func repeated(_ branch: Int64, _ epoch: Int64, _ number: Int64) -> [IssuedRange] {
      if hasPlantedBug(.forgetsRequests) { return [] }
      return intake.filter { $0.branch == branch && $0.epoch == epoch && $0.number == number }
    }

    /// Returns the tickets of a key; nil if the key is new.
    private func known(_ key: String, _ owner: BranchOwner) -> IssuedRange? {
      intake.first { $0.key == key && !(hasPlantedBug(.forgetsKeysOfOtherEpochs) && $0.epoch != owner.epoch) }
    }

    /// Assigns tickets to a list that is sent whole, and adds its customers.
    func takeInList(_ call: PostgresCall) -> [[PostgresValue]] {
      takeInList(
        call, CustomerColumns(call, from: 6), keys: call.texts(12), digests: call.integers(13), whole: true)
    }

    /// Assigns tickets to the customers of a list whose keys are new or who have no key.
    func takeInList(
      _ call: PostgresCall, _ arriving: CustomerColumns, keys: [String?], digests: [Int64],
      whole isWhole: Bool
    ) -> [[PostgresValue]] {
      guard isPresent(call.owner) else { return [] }
      let (issued, epoch, number) = (call.integer(3), call.integer(4), call.integer(5))
      let range = repeated(call.owner.branch, epoch, number)
      var known: [IssuedRange] = []
      for key in keys {
        if let key, let found = self.known(key, call.owner) { known.append(found) }
      }
      /// True if these tickets belong to another request.
      func others(_ range: IssuedRange) -> Bool {
        !(range.branch == call.owner.branch && range.epoch == epoch && range.number == number)
      }
      guard range.isEmpty else {
        world.statistics.repeatedRequests += 1
        return range.map { row(2, $0) } + known.filter(others).map { row(1, $0) }
      }
      for (index, key) in keys.enumerated() {
        guard let key, let found = known.first(where: { $0.key == key }), let request = found.request,
          digests[index] != .min, request != digests[index]
        else { continue }
        return [[.integer(4), .integer(0), .integer(0), .integer(0), .text(key), .integer(0)]]
      }
      let knownRows = known.map { row(1, $0) }
      let fresh = keys.indices.filter { index in
        keys[index].map { key in !known.contains { $0.key == key } } ?? true
      }
      guard !rejectsNewRequests else {
        return knownRows
          + (fresh.isEmpty
            ? [] : [[.integer(3), .integer(day), .integer(0), .integer(0), .null, .integer(0)]])
      }
      guard isWhole else { return [row(5)] }
      let told = empty(fresh.map { arriving.bases[$0] })
      var next = firstNumber()
      var rows: [[PostgresValue]] = []
      for index in fresh {
        let one = IssuedRange(
          first: next, last: next, branch: call.owner.branch, key: keys[index],
          request: digests[index] == .min ? nil : digests[index], epoch: epoch, number: number, day: day)
        intake.append(one)
        checker.ticketsIssued(next...next, key: keys[index], isDraining: isDraining)
        add(
          index, of: arriving, as: next, issued: issued, for: call.owner, call.owner, call.integer(2))
        rows.append(row(0, one))
        next += 1
      }
      for lane in told { world.network.notify("\(lane)") }
      return rows + knownRows
    }
  }
#endif
