// Messages of a chaos run, in two languages.
// They format results, and compute none.
import Arguments
import BankctlCommands

extension MessageCatalog {
  /// First line of a run, with its home and its seed.
  func chaosBegins(seed: Int64, home: String) -> String {
    say("Fault injection in \(home), seed \(seed).", "\(home)에서 카오스 테스트를 시작합니다. 시드 \(seed).")
  }

  /// Progress of a run: kills by kind, and tickets; the number of served customers follows.
  func chaosProgress(_ kills: [ChaosTarget: Int64], acknowledged: Int64) -> String {
    let parts = ChaosTarget.allCases.map { "\(targetName($0)) \(kills[$0, default: 0])" }.joined(
      separator: ", ")
    return say(
      "killed: \(parts); tickets \(acknowledged); served", "강제 종료: \(parts); 번호표 \(acknowledged); 처리")
  }

  /// Verdict of a run without deviations.
  var chaosClean: String {
    say(
      "Every guarantee held: no customer lost, duplicated or reordered.",
      "모든 보장이 지켜졌습니다. 유실되거나 두 번 처리된 고객이 없고 순서도 맞습니다.")
  }

  /// Verdict of a run with deviations, and how to repeat it.
  func chaosBroken(_ seed: Int64, _ home: String) -> String {
    say(
      "A guarantee was violated. Repeat with --seed \(seed); the home is kept: \(home)",
      "지켜지지 않은 보장이 있습니다. --seed \(KoreanParticle.by.on(String(seed))) 다시 실행하세요. 홈은 남아 있습니다: \(home)")
  }

  /// Refusal of a home with unfinished customers or dead letters.
  var chaosNeedsIdle: String {
    say(
      "This home still has waiting customers or dead letters: serve or cancel them first, or omit --home.",
      "이 홈에 아직 기다리거나 보류된 고객이 있습니다. 먼저 처리하거나 취소하고, 아니면 --home 없이 실행하세요.")
  }

  /// Deviation: the stock did not answer at the end of the run.
  func chaosStockSilent(_ reason: String) -> String {
    say("the stock does not respond at the end: \(reason)", "마지막에 재고가 응답하지 않습니다: \(reason)")
  }

  /// Deviation: the vending machine did not answer at the end of the run.
  func chaosMachineSilent(_ reason: String) -> String {
    say("the vending machine does not respond at the end: \(reason)", "마지막에 자판기가 응답하지 않습니다: \(reason)")
  }

  /// Refusal of `--targets web` without a web page.
  var chaosHasNoPage: String {
    say(
      "There is no web server to kill: this build has no web interface, or --home was given. Omit '--targets web'.",
      "강제 종료할 웹 서버가 없습니다. 웹 화면 없이 빌드되었거나 --home을 지정했습니다. '--targets web'을 빼세요.")
  }

  /// Refusal of `--targets` whose windows are all closed.
  var chaosHasNoWindow: String {
    say(
      "All windows of the processes in --targets are closed. Open one with --deposit, --loan or --juice, or add a target.",
      "--targets에 지정한 프로세스의 창구가 모두 닫혀 있습니다. --deposit, --loan, --juice로 창구를 열거나 대상을 추가하세요.")
  }

  /// Refusal of a name in `--targets`, with the accepted ones.
  func unknownTarget(_ name: String) -> String {
    say(
      "--targets accepts \(Self.targetNames), not \(quoted(name)).",
      "--targets에는 \(Self.targetNames)만 쓸 수 있습니다: \(quoted(name))")
  }

  private static let targetNames = ChaosTarget.allCases.map(\.rawValue).joined(separator: ", ")

  /// Name of a kind of process, in the plural if there may be several.
  private func targetName(_ target: ChaosTarget) -> String {
    switch target {
    case .teller: say("tellers", "은행원")
    case .coordinator: say("coordinator", "코디네이터")
    case .guardian: say("guardian", "가디언(guardian)")
    case .stock: say("stock", "재고")
    case .juice: say("juice stations", "쥬스 스테이션")
    case .vending: say("vending machine", "자판기")
    case .runner: say("runners", "러너(runner)")
    case .command: say("commands", "명령")
    case .descendant: say("descendants of commands", "명령의 자손 프로세스")
    case .worker: say("workers at windows", "창구의 워커")
    case .outside: say("outside workers", "외부 워커")
    case .web: say("web server", "웹 서버")
    }
  }

  /// Label of the number of kills of this kind.
  func killed(_ target: ChaosTarget) -> String {
    say("SIGKILL to \(targetName(target))", "SIGKILL: \(targetName(target))")
  }

  /// Labels of the other figures in the report.
  var chaosStops: String { say("suspended and resumed", "정지했다 재개함") }
  var chaosCuts: String { say("connections cut", "끊은 연결") }
  var chaosAcknowledged: String { say("tickets issued", "받은 번호표") }
  var chaosReceipts: String { say("receipts", "영수증") }
  var chaosReserved: String { say("needed more than one attempt", "다시 시도해 처리한 고객") }
  var chaosRequeued: String { say("dead letters requeued", "다시 줄에 세운 고객") }
  var chaosOvertakenByCrash: String { say("reordered by a coordinator crash", "코디네이터가 종료되어 순서가 밀린 고객") }
  var chaosJuices: String { say("juices made", "만든 쥬스") }
  var chaosSentAway: String { say("rejected for lack of fruit", "재료가 모자라 돌아간 고객") }
  var chaosDeliveries: String { say("deliveries of fruit", "과일 반입") }
  var chaosPurchases: String { say("purchases at the vending machine", "자판기 구매") }
  var chaosWatched: String { say("stock changes watched", "지켜본 재고 변화") }
  var chaosAttempts: String { say("attempts of commands and workers", "명령과 워커의 시도") }
  var chaosCancelled: String { say("cancelled while being served", "처리 중에 취소한 고객") }
  var chaosDeviations: String { say("deviations of commands and workers", "명령과 워커의 불일치") }
  var chaosOrder: String { say("order violations", "순서 위반") }
  var chaosMoney: String { say("money difference", "금액 차이") }
  var chaosOrphans: String { say("orphan processes", "남은 프로세스") }
  var chaosReserveTime: String { say("teller killed → customer served again", "은행원 종료 → 고객 업무 재개") }
  var chaosRecoverTime: String { say("coordinator killed → served again", "코디네이터 종료 → 업무 재개") }
  var chaosPageTime: String { say("process killed → page recovered", "강제 종료 → 페이지 복구") }
  var chaosPageEvents: String { say("events of the page", "페이지가 알린 변화") }

  /// Median, 99th percentile and maximum of measured times; a dash without any.
  func times(_ times: ChaosTimes) -> String {
    guard let median = times.median, let p99 = times.p99, let longest = times.longest else { return "-" }
    return say(
      "median \(median), p99 \(p99), max \(longest) ms", "중앙값 \(median), p99 \(p99), 최대 \(longest)밀리초")
  }

  /// A deviation as one sentence.
  func sentence(_ violation: ChaosViolation) -> String {
    switch violation {
    case .lost(let ticket): say("\(name(ticket)) has no receipt", "\(name(ticket)): 영수증이 없습니다")
    case .servedAgain(let ticket, let count):
      say("\(name(ticket)) has \(count) receipts", "\(name(ticket)): 영수증이 \(count)장입니다")
    case .keyAnsweredDifferently(let key): say("key \(key) got two sets of tickets", "키 \(key): 번호표가 두 벌입니다")
    case .invalidAnswer(let key):
      say("key \(key) got wrong tickets or those of another key", "키 \(key): 번호표가 틀리거나 다른 키의 것입니다")
    case .notRequested(let ticket):
      say("\(name(ticket)) was not requested", "\(name(ticket)): 요청한 적이 없습니다")
    case .overtaken(let ticket, let other):
      say("\(name(ticket)) started later than \(name(other))", "\(name(ticket)): \(name(other))보다 늦게 시작했습니다")
    case .tooManyOvertaken(let service, let count, let most):
      say(
        "\(count) customers of \(phrases.service(service)) reordered; crashes explain \(most)",
        "\(phrases.service(service)) 고객 \(count)명이 밀렸는데 \(most)명까지만 설명됩니다")
    case .wrongReceipt(let ticket):
      say("\(name(ticket)): the receipt does not match the request", "\(name(ticket)): 영수증이 요청과 다릅니다")
    case .money(let service, let difference):
      say(
        "\(phrases.service(service)): off by \(won(difference))",
        "\(phrases.service(service)): \(won(difference)) 차이가 납니다")
    case .orphan(let pid, let name):
      say(
        "process \(pid) (\(name)) still runs after the bank closed",
        "프로세스 \(KoreanParticle.subject.on("\(pid)(\(name))")) 은행이 닫힌 뒤에도 실행되고 있습니다")
    case .unanswered(let key): say("key \(key) never got a response", "키 \(key): 끝내 응답이 없었습니다")
    case .notRecovered: say("the bank did not recover by itself", "은행이 스스로 복구되지 않았습니다")
    case .page(let count):
      say(
        "the page had not recovered within \(ChaosPage.timeout.milliseconds / 1_000) s of a kill, \(count) times",
        "강제 종료 뒤 \(ChaosPage.timeout.milliseconds / 1_000)초 안에 페이지가 복구되지 않은 적이 \(count)번 있습니다")
    case .stock(let item, let difference):
      say(
        "\(self.item(item.name)): \(difference > 0 ? "\(difference) too many" : "\(-difference) missing")",
        "\(self.item(item.name)): \(difference > 0 ? "\(difference)개가 남습니다" : "\(-difference)개가 모자랍니다")")
    case .watch(let gap):
      say("a watcher of the stock: \(localizedDetail(gap))", "재고를 지켜본 클라이언트: \(localizedDetail(gap))")
    case .work(let ticket, let deviation):
      "\(name(ticket)): \(self.deviation(deviation))"
    case .unreadableLines(let count):
      say("\(count) lines of commands and workers are unreadable", "명령과 워커의 기록 \(count)줄을 읽을 수 없습니다")
    case .audit(let problem): say("audit: \(localizedDetail(problem))", "점검: \(localizedDetail(problem))")
    }
  }

  /// A deviation in the work for a ticket, as the end of a sentence that begins with the ticket.
  private func deviation(_ deviation: WorkDeviation) -> String {
    switch deviation {
    case .severalKeys: say("its attempts had different keys", "시도마다 키가 다릅니다")
    case .keyOfOtherTicket(let other): say("has the key of \(name(other))", "\(name(other))의 키를 가졌습니다")
    case .receiptKey: say("the receipt names another key", "영수증의 키가 다릅니다")
    case .overlapped(let attempt):
      say("attempt \(attempt) started while another one was running", "\(attempt)번째 시도가 다른 시도와 겹쳤습니다")
    case .notLogged(let attempt):
      say("served in attempt \(attempt), which did not start and end", "처리했다는 \(attempt)번째 시도의 시작과 끝이 없습니다")
    case .payload: say("got another payload", "다른 페이로드를 받았습니다")
    case .result: say("the result does not match its payload", "결과가 페이로드와 맞지 않습니다")
    case .startedAfterReceipt(let attempt):
      say("attempt \(attempt) started after the receipt", "영수증 뒤에 \(attempt)번째 시도가 시작되었습니다")
    case .notCancelled: say("was served although it had been cancelled", "취소했는데 처리되었습니다")
    case .notRequested: say("work ran without a request", "요청이 없는데 처리했습니다")
    case .outlived(let pid):
      say("process \(pid) still runs after the receipt", "프로세스 \(pid): 영수증 뒤에도 실행되고 있습니다")
    }
  }

  private func name(_ ticket: ChaosTicket) -> String {
    say("day \(ticket.day) ticket \(ticket.number)", "\(ticket.day)일차 \(ticket.number)번")
  }
}
