// Several branches and their shared database, with a slow network that keeps the order of messages. A commit
// arrives there later, and its result returns later still. Branches are killed, cut off and fenced; a cut-off
// branch continues as a zombie until it learns of it. A seed decides everything.

import BankModel
import QueueCore
import Time

final class BranchHarness {
  /// A message on its way to the database, or back.
  enum Message {
    case commit([StoreChange])
    case claim(Line, limit: Int)
    case order(RequestNumber, OperatorCommand)
    case event(QueueEvent)
    case answer(RequestNumber, QueueAnswer)
    /// What comes back after this belongs to the next epoch.
    case joined
  }

  /// One branch: its queue, its tellers, and its messages in flight.
  final class Branch {
    var machine: QueueMachine
    var owner: SharedStoreModel.Owner
    var staged: [StoreChange] = []
    var toStore: [Message] = []
    var fromStore: [Message] = []
    var tellers: [Window: [Lease]] = [:]
    var generations: [Window: Generation] = [:]
    var isKnownToBeLost = false
    var open: Set<RequestNumber> = []

    init(_ policy: QueuePolicy, _ owner: SharedStoreModel.Owner, at now: Moment) {
      self.owner = owner
      machine = QueueMachine(
        StoredQueue(dayCounters: DayCounters(day: 1, openedAt: now.wall), delayed: []), policy: policy,
        at: now)
    }
  }

  let ledger: SharedStoreModel
  var branches: [Branch] = []
  var chance: SeededGenerator
  let policy: QueuePolicy
  var now = Moment(monotonic: MonotonicTime(nanoseconds: 0), wall: WallTime(milliseconds: 1_000_000))
  private(set) var faults: [String] = []
  private var requests: RequestNumber = 0
  /// Counts of what happened, so that a test can check that it tests something.
  var counts: [String: Int] = [:]

  init(seed: UInt64, bug: ModelBug? = nil) {
    chance = SeededGenerator(seed: seed)
    let count = Int(chance.draw(2...4))
    ledger = SharedStoreModel(branches: count, seed: seed &* 7, bug: bug)
    var policy = QueuePolicy().sharing(page: Int(chance.draw(1...6)))
    policy.prefetch = Int(chance.draw(1...3))
    policy.maxCrashes = 3
    policy.maxFailures = 3
    policy.lease = .seconds(1_000)
    policy.maxUnderway = Int(chance.draw(1...4))
    if chance.draw(0...3) == 0 { policy.maxAttempts = 9 }
    self.policy = policy
    for place in 0..<count { branches.append(makeBranch(place)) }
  }

  private func makeBranch(_ place: Int) -> Branch {
    let owner = SharedStoreModel.Owner(branch: place, epoch: ledger.epochs[place])
    let branch = Branch(policy, owner, at: now)
    process(.leaseExtended(until: MonotonicTime(nanoseconds: .max)), at: branch)
    for service in [Service.deposit, .loan] {
      process(.scale(service, windows: Int32(chance.draw(1...2))), at: branch)
    }
    for line in ledger.unclaimed { process(.lineMayHaveCustomers(line), at: branch) }
    return branch
  }

  func fault(_ words: String) { faults.append(words) }
  var allFaults: [String] { faults + ledger.faults }

  // MARK: - A branch

  func process(_ event: QueueEvent, at branch: Branch) {
    var effects: [QueueEffect] = []
    branch.machine.apply(event, at: now, into: &effects)
    for effect in effects { perform(effect, at: branch) }
    for messageDetail in branch.machine.inconsistencies(ServiceDirectory()) { fault("\(messageDetail)") }
  }

  private func perform(_ effect: QueueEffect, at branch: Branch) {
    switch effect {
    case .stage(let change): branch.staged.append(change)
    case .loadPage(let line, _, let limit): branch.toStore.append(.claim(line, limit: limit))
    case .forward(let request, let order): branch.toStore.append(.order(request, order))
    case .assign(let window, let lease, _):
      counts["assigned", default: 0] += 1
      if branch.isKnownToBeLost { fault("a branch without a lease assigns a customer") }
      branch.tellers[window, default: []].append(lease)
    case .openWindow(let window): branch.tellers[window] = nil
    case .dismissTeller(let window), .killStuckTeller(let window, _), .killRogueTeller(let window, _, _):
      branch.tellers[window] = nil
    case .reply(let request, _):
      if branch.open.remove(request) == nil { fault("request \(request) was answered twice") }
    case .logRejectedCompletion: counts["without effect", default: 0] += 1
    default: break
    }
  }

  /// Sends the staged commit if one more may be in flight.
  func submitTransaction(_ branch: Branch) {
    guard branch.machine.hasRoomUnderway, branch.machine.isUnsealed || !branch.staged.isEmpty else { return }
    branch.toStore.append(.commit(branch.staged))
    branch.staged.removeAll()
    process(.sealed, at: branch)
  }

  func cancelRandomCustomer(_ branch: Branch) {
    requests += 1
    branch.open.insert(requests)
    counts["cancelled", default: 0] += 1
    process(.cancel(requests, chance.draw(1...max(1, ledger.issued))), at: branch)
  }

  // MARK: - The network

  /// The oldest message of a branch arrives at the database.
  func arrive(from branch: Branch) {
    guard !branch.toStore.isEmpty else { return }
    switch branch.toStore.removeFirst() {
    case .commit(let changes):
      let rejectedCompletions = ledger.commit(changes, by: branch.owner)
      if ledger.epochs[branch.owner.branch] != branch.owner.epoch {
        counts["of a zombie", default: 0] += 1
        return
      }
      if !rejectedCompletions.isEmpty { branch.fromStore.append(.event(.withoutEffect(rejectedCompletions))) }
      branch.fromStore.append(.event(.committed))
    case .claim(let line, let limit):
      let page = ledger.claim(line, limit: limit, for: branch.owner)
      guard ledger.epochs[branch.owner.branch] == branch.owner.epoch else { return }
      branch.fromStore.append(.event(.pageLoaded(line, page)))
    case .order(let request, .cancel(let ticket)):
      branch.fromStore.append(.answer(request, ledger.cancel(ticket, by: branch.owner)))
    case .order(let request, _): branch.fromStore.append(.answer(request, .done))
    case .event, .answer, .joined: break
    }
  }

  /// The oldest message of the database arrives at a branch.
  func handle(_ branch: Branch) {
    guard !branch.fromStore.isEmpty else { return }
    switch branch.fromStore.removeFirst() {
    case .event(let event):
      if case .claimsLost = event {
        branch.staged.removeAll()
        branch.toStore.removeAll { if case .order = $0 { false } else { true } }
        branch.isKnownToBeLost = true
        branch.owner.epoch = ledger.epochs[branch.owner.branch]
        branch.fromStore.append(.joined)
      }
      process(event, at: branch)
    case .answer(let request, _):
      if branch.open.remove(request) == nil { fault("request \(request) was answered twice") }
    case .joined:
      branch.isKnownToBeLost = false
      process(.leaseExtended(until: MonotonicTime(nanoseconds: .max)), at: branch)
    case .commit, .claim, .order: break
    }
  }

  /// A branch is fenced; it learns of it with a later message.
  func fence(_ branch: Branch) {
    guard !branch.isKnownToBeLost, ledger.epochs[branch.owner.branch] == branch.owner.epoch else { return }
    counts["fenced", default: 0] += 1
    ledger.end(branch.owner.branch)
    branch.fromStore.append(.event(.claimsLost))
  }

  /// A branch is killed, and starts again.
  func kill(_ place: Int) {
    counts["killed", default: 0] += 1
    // What it has sent may still arrive, if it was sent before the branch was fenced.
    for _ in 0..<chance.draw(0...2) { arrive(from: branches[place]) }
    ledger.end(place)
    branches[place] = makeBranch(place)
  }

  /// The database notifies all branches of lines in which customers may wait.
  func poll() {
    for branch in branches {
      for line in ledger.unclaimed.sorted(by: { $0.priority < $1.priority }) {
        branch.fromStore.append(.event(.lineMayHaveCustomers(line)))
      }
    }
  }
}
