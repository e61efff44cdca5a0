// Ticket assignment in the simulated server: for a request with one key or none, and for a list whose customers have
// keys.
// Invariant: the tickets are one series. A key gets tickets only once. A request gets tickets only once too, even if it
// is repeated in a later epoch. Only planted bugs break this.

#if HAS_POSTGRES
  import BankModel
  import Postgres
  import PostgresStore
  import Time

  extension BooksServer {
    /// Requested customers: one array for each column of the statement.
    struct Arriving {
      var bases: [Int64] = [], amounts: [Int64] = [], accounts: [Int64] = [], dues: [Int64] = []
      var articles: [String?] = []
      var payloads: [[UInt8]?] = []

      init() {}

      mutating func append(_ more: Arriving) {
        bases += more.bases
        amounts += more.amounts
        accounts += more.accounts
        dues += more.dues
        articles += more.articles
        payloads += more.payloads
      }

      init(_ call: PostgresCall, from place: Int) {
        (bases, amounts) = (call.integers(place), call.integers(place + 1))
        (accounts, dues) = (call.integers(place + 2), call.integers(place + 3))
        (articles, payloads) = (call.texts(place + 4), call.manyBytes(place + 5))
      }
    }

    var lastTicket: Int64 { intake.lazy.filter { $0.day == self.day }.map(\.last).max() ?? 0 }

    /// - Parameters:
    ///   - by: the branch that sent the request; nil if the branch may have left.
    ///   - owner: the branch and epoch that count the customer, in `commit`.
    func add(
      _ place: Int, of arriving: Arriving, as ticket: Int64, issued: Int64, for by: BranchOwner?,
      _ owner: BranchOwner, _ commit: Int64
    ) {
      let base = arriving.bases[place]
      let due = arriving.dues[place]
      let row = Row(
        ticket: ticket, lane: PostgresPosition.lane(base), amount: arriving.amounts[place],
        account: arriving.articles[place].flatMap(JuiceOrder.init)?.account ?? arriving.accounts[place],
        issued: issued, state: base >> 60,
        due: due == 0 ? nil : due, article: arriving.articles[place],
        payload: arriving.payloads[place])
      customers[ticket] = row
      checker.issued(row, by: by)
      add(
        row.state == 2 ? Tally(issued: 1, delayed: 1) : Tally(issued: 1, waiting: 1), owner, commit,
        lane: row.lane)
    }

    /// Lanes of the new waiting customers that had no unclaimed customer before them.
    private func empty(_ bases: [Int64]) -> [Int64] {
      Set(bases.filter { $0 >> 60 == 1 }.map { PostgresPosition.lane($0) }).filter { !hasUnclaimed($0) }
        .sorted()
    }

    private func firstNumber() -> Int64 { lastTicket + 1 + (strikes(.leavesGaps) ? 1 : 0) }
    /// True while the bank drains, and after the day has ended: only one day is simulated.
    private var isShut: Bool { isDraining && !makes(.takesInWhileItDrains) || checker.dayHasEnded }

    func takeIn(_ call: PostgresCall) -> [[PostgresValue]] {
      takeIn(call, whole: true) { given in
        let arriving = Arriving(call, from: 9)
        let told = empty(arriving.bases)
        for place in 0..<Int(call.integer(5)) {
          add(
            place, of: arriving, as: given.first + Int64(place), issued: call.integer(6), for: call.owner,
            call.owner, call.integer(2))
        }
        for lane in told { world.network.notify("\(lane)") }
      }
    }

    /// Assigns tickets to a request. Each row of the answer starts with a kind, as in the production statement: 0 new
    /// tickets, 1 the tickets of a known key, 2 the tickets that the same request got earlier, 3 a draining bank, 4 a
    /// key used for another request, 5 missing slices.
    ///
    /// - Parameters:
    ///   - isWhole: true if all requested customers have arrived.
    ///   - fill: called after the tickets were assigned.
    func takeIn(
      _ call: PostgresCall, whole isWhole: Bool, _ fill: (Given) -> Void
    ) -> [[PostgresValue]] {
      guard isPresent(call.owner) else { return [] }
      let (key, digest, count) = (call.text(3), call.optional(4), call.integer(5))
      let (epoch, number) = (call.integer(7), call.integer(8))
      if let given = repeated(call.owner.branch, epoch, number).first {
        world.statistics.repeatedRequests += 1
        return [row(2, given)]
      }
      if let key, let known = known(key, call.owner) {
        return [
          [
            .integer(1), .integer(known.day), .integer(known.first), .integer(known.last),
            known.request.map { .integer($0) } ?? .null, .integer(0),
          ]
        ]
      }
      guard !isShut else {
        return [[.integer(3), .integer(day), .integer(0), .integer(0), .null, .integer(0)]]
      }
      guard isWhole else { return [row(5)] }
      let first = firstNumber()
      let given = Given(
        first: first, last: first + count - 1, branch: call.owner.branch, key: key, request: digest,
        epoch: epoch,
        number: number, day: day)
      intake.append(given)
      checker.gives(given.first...given.last, key: key, isDraining: isDraining)
      fill(given)
      return [row(0, given)]
    }

    private func row(_ kind: Int64) -> [PostgresValue] {
      [.integer(kind), .integer(day), .integer(0), .integer(0), .null, .integer(0)]
    }

    private func row(_ kind: Int64, _ given: Given) -> [PostgresValue] {
      [.integer(kind), .integer(given.day), .integer(given.first), .integer(given.last), .null, .integer(0)]
    }

    private func repeated(_ branch: Int64, _ epoch: Int64, _ number: Int64) -> [Given] {
      if makes(.forgetsRequests) { return [] }
      return intake.filter { $0.branch == branch && $0.epoch == epoch && $0.number == number }
    }

    private func known(_ key: String, _ owner: BranchOwner) -> Given? {
      intake.first { $0.key == key && !(makes(.forgetsKeysOfOtherEpochs) && $0.epoch != owner.epoch) }
    }

    func takeInList(_ call: PostgresCall) -> [[PostgresValue]] {
      takeInList(
        call, Arriving(call, from: 6), keys: call.texts(12), digests: call.integers(13), whole: true)
    }

    func takeInList(
      _ call: PostgresCall, _ arriving: Arriving, keys: [String?], digests: [Int64], whole isWhole: Bool
    ) -> [[PostgresValue]] {
      guard isPresent(call.owner) else { return [] }
      let (issued, epoch, number) = (call.integer(3), call.integer(4), call.integer(5))
      let given = repeated(call.owner.branch, epoch, number)
      var known: [Given] = []
      for key in keys {
        if let key, let found = self.known(key, call.owner) { known.append(found) }
      }
      func others(_ given: Given) -> Bool {
        !(given.branch == call.owner.branch && given.epoch == epoch && given.number == number)
      }
      guard given.isEmpty else {
        world.statistics.repeatedRequests += 1
        return given.map { row(2, $0) } + known.filter(others).map { row(1, $0) }
      }
      for (place, key) in keys.enumerated() {
        guard let key, let found = known.first(where: { $0.key == key }), let request = found.request,
          digests[place] != .min, request != digests[place]
        else { continue }
        return [[.integer(4), .integer(0), .integer(0), .integer(0), .text(key), .integer(0)]]
      }
      let knownRows = known.map { row(1, $0) }
      let fresh = keys.indices.filter { place in
        keys[place].map { key in !known.contains { $0.key == key } } ?? true
      }
      guard !isShut else {
        return knownRows
          + (fresh.isEmpty
            ? [] : [[.integer(3), .integer(day), .integer(0), .integer(0), .null, .integer(0)]])
      }
      guard isWhole else { return [row(5)] }
      let told = empty(fresh.map { arriving.bases[$0] })
      var next = firstNumber()
      var rows: [[PostgresValue]] = []
      for place in fresh {
        let one = Given(
          first: next, last: next, branch: call.owner.branch, key: keys[place],
          request: digests[place] == .min ? nil : digests[place], epoch: epoch, number: number, day: day)
        intake.append(one)
        checker.gives(next...next, key: keys[place], isDraining: isDraining)
        add(
          place, of: arriving, as: next, issued: issued, for: call.owner, call.owner, call.integer(2))
        rows.append(row(0, one))
        next += 1
      }
      for lane in told { world.network.notify("\(lane)") }
      return rows + knownRows
    }
  }
#endif
