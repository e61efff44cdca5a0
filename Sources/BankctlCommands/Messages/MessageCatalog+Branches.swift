// Sentences about branches with a shared database,
// in English and Korean.
import Arguments
import BankModel
import Wire

extension MessageCatalog {
  /// Sentence: a request was refused because the bank has a shared database, or has none, or because the branch lost
  /// its lease.
  func branchFailure(_ failure: Failure, _ detail: String) -> String {
    let asked = failure.subject.isEmpty ? say("That", "이") : quoted(failure.subject)
    return switch failure.code {
    case .leaseLost:
      say(
        "This branch lost its lease\(detail); other branches took over its customers. It is rejoining. Nothing was "
          + "changed; try again in a moment and see 'bankctl branches'.",
        "이 지점의 리스가 만료되어\(detail) 다른 지점이 고객을 넘겨받았고, 지금 다시 합류하는 중입니다. 변경된 내용은 없습니다. 잠시 뒤 다시 시도하고 'bankctl branches'로 "
          + "확인하세요.")
    case .unsupportedWithSharedStore where failure.subject == "reset":
      say(
        "A reset would cancel the customers of all branches\(detail), so one branch cannot do it. Nothing was changed. "
          + "End the day of the whole bank with 'bankctl stop --bank', or cancel customers with 'bankctl cancel'.",
        "초기화하면 모든 지점의 고객이 취소되므로 한 지점에서는 할 수 없습니다\(detail). 변경된 내용은 없습니다. 'bankctl stop --bank'로 은행 전체의 영업일을 "
          + "끝내거나 'bankctl cancel'로 고객을 취소하세요.")
    case .unsupportedWithSharedStore:
      say(
        "\(asked) is not supported with a shared database\(detail). Nothing was changed. It works in a bank opened "
          + "without --store, whose database is in its home.",
        "\(asked) 명령은 데이터베이스를 공유하는 은행에서는 지원하지 않습니다\(detail). 변경된 내용은 없습니다. --store 없이 연, 홈에 데이터베이스가 있는 은행에서는 쓸 수 있습니다."
      )
    default:
      say(
        "\(asked) requires a shared database; this bank's database is in its home\(detail). Nothing was changed. Open "
          + "a bank with 'bankctl start --store postgres://…' to share it.",
        "\(asked) 명령은 데이터베이스를 공유하는 은행에서만 쓸 수 있습니다. 이 은행의 데이터베이스는 홈에 있습니다\(detail). 변경된 내용은 없습니다. 'bankctl start "
          + "--store postgres://…'로 연 은행은 데이터베이스를 공유합니다.")
    }
  }

  var noPostgres: String {
    say(
      "This build has no PostgreSQL support, so it cannot use --store. Install libpq-dev and run scripts/build; "
        + "nothing was opened.",
      "이 빌드에는 PostgreSQL이 없어 --store를 쓸 수 없습니다. libpq-dev를 설치하고 scripts/build를 실행하세요. 아무것도 열지 않았습니다.")
  }

  /// Sentence: the address of a shared database is invalid. `source` is the option or variable that contains it.
  func badAddress(_ source: String, _ fault: String) -> String {
    say("\(source) \(fault). Nothing was opened.", "\(source) \(fault). 아무것도 열지 않았습니다.")
  }

  func state(_ state: BranchState) -> String { phrases.state(state) }

  /// Number of a branch: `branch 2`.
  func branch(_ number: Int64) -> String { say("branch \(number)", "지점 \(number)") }

  /// `branch 2 (seoul), epoch 3, lease 3.1 s`.
  func thisBranch(_ branch: BranchReport) -> String {
    let lease = branch.leaseMilliseconds > 0 ? span(milliseconds: branch.leaseMilliseconds) : "-"
    return say(
      "\(self.branch(branch.number)) (\(safe(branch.name))), epoch \(branch.epoch), lease \(lease)",
      "\(self.branch(branch.number))(\(safe(branch.name))), 에포크 \(branch.epoch), 리스 \(lease)")
  }

  /// `3 branches, 2 open · served 360 · 30.2 a second`.
  func branches(_ branches: [BranchReport]) -> String {
    let open = branches.filter { $0.state == .open }
    let served = Self.grouped(branches.reduce(0) { $0 &+ $1.served })
    let rates = open.compactMap(\.rate)
    let rate = rates.isEmpty ? nil : self.rate(thousandths: rates.reduce(0) { $0 &+ $1 })
    return say(
      "\(branches.count) \(branches.count == 1 ? "branch" : "branches"), \(open.count) open · served \(served)"
        + (rate.map { " · \($0) a second" } ?? ""),
      "지점 \(branches.count)곳, 영업 중 \(open.count)곳 · 완료 \(served)" + (rate.map { " · 초당 \($0)" } ?? ""))
  }

  /// One part for each branch: `*1 seoul 12.5/s`, `2 busan expired`.
  func eachBranch(_ branches: [BranchReport]) -> [String] {
    branches.map { branch in
      let mark = branch.isThis ? "*" : ""
      let state = branch.state == .open ? nil : self.state(branch.state)
      let pace = state ?? branch.rate.map { rate(thousandths: $0) + "/s" } ?? self.state(branch.state)
      return "\(mark)\(branch.number) \(safe(branch.name)) \(pace)"
    }
  }

  /// The number of customers that only this branch can serve, and the remedy.
  func leftAtBranch(_ branch: BranchReport) -> String {
    let (name, count) = (safe(branch.name), Self.grouped(branch.juices ?? 0))
    return say(
      "\(self.branch(branch.number)) (\(name)): \(count) \(count == "1" ? "customer waits" : "customers wait") for "
        + "juice that only this branch can make. They are served when it is open: list them with 'bankctl tickets "
        + "--state waiting'; any branch can cancel them with 'bankctl cancel'.",
      "\(self.branch(branch.number))(\(name)): 그 지점 재고로 만들 쥬스를 \(count)명이 기다립니다. 그 지점이 열리면 처리합니다. 'bankctl tickets "
        + "--state waiting'으로 볼 수 있고, 어느 지점에서나 'bankctl cancel'로 취소할 수 있습니다.")
  }

  /// Legend of the mark in the list of branches.
  var isThisBranch: String { say("* this branch", "* 이 지점") }

  func noSuchBranch(_ number: Int64, among numbers: [Int64]) -> String {
    let list = numbers.prefix(20).map(String.init).joined(separator: ", ")
    return say(
      "This bank has no branch \(number); its branches are \(list). See 'bankctl branches'.",
      "지점 \(number): 이 은행에 그런 지점은 없습니다. 지점 목록: \(list). 'bankctl branches'로 확인하세요.")
  }
}
