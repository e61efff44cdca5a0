// Messages of a chaos run over several branches, in two languages.
// They format results, and compute none.
import Arguments
import BankctlCommands

extension MessageCatalog {
  /// First line of a run over several branches.
  func chaosBegins(seed: Int64, branches: Int) -> String {
    say(
      "Fault injection over \(branches) branches of a bank, seed \(seed).",
      "은행을 함께 쓰는 지점 \(branches)곳에서 카오스 테스트를 시작합니다. 시드 \(seed).")
  }

  /// Progress of a run: faults and tickets; the number of served customers follows.
  func chaosProgress(_ counts: [SharedFault: Int64], acknowledged: Int64) -> String {
    let injected = counts.values.reduce(0, +)
    return say(
      "faults: \(injected); tickets \(acknowledged); served", "장애 주입: \(injected)회; 번호표 \(acknowledged); 처리")
  }

  /// Label of the number of faults of this kind.
  func injected(_ fault: SharedFault) -> String {
    switch fault {
    case .teller: say("SIGKILL to tellers", "SIGKILL: 은행원")
    case .coordinator: say("SIGKILL to coordinators", "SIGKILL: 코디네이터")
    case .branch: say("whole branches killed", "전체를 강제 종료한 지점")
    case .session: say("sessions terminated", "서버에서 끊은 세션")
    case .backend: say("SIGKILL to server backends", "SIGKILL: 서버의 프로세스")
    case .stop: say("server stopped immediately and restarted", "바로 정지했다 시작한 서버")
    case .server: say("SIGKILL to the server", "SIGKILL: 서버")
    case .partition: say("branches partitioned", "연결이 끊긴 지점")
    case .zombie: say("coordinators suspended beyond the lease", "리스보다 오래 정지한 코디네이터")
    }
  }

  var chaosSnapshot: String { say("longest snapshot of the database", "가장 오래 열린 데이터베이스 스냅숏") }

  /// Times from faults until customers were served again.
  func servedAgain(_ times: ChaosTimes) -> String {
    say("served again: \(self.times(times))", "업무 재개: \(self.times(times))")
  }

  var chaosSharedClean: String {
    say(
      "Every guarantee held over all branches: no customer lost or duplicated, one ticket per key.",
      "모든 지점에서 보장이 지켜졌습니다. 유실되거나 두 번 처리된 고객이 없고 키마다 번호표가 하나입니다.")
  }

  /// Number of branches that can be cut off by a network, and by a relay.
  func chaosRoutes(network: Int, relay: Int) -> String {
    say(
      "Partitioned: \(network) branches via network namespace, \(relay) via relay.",
      "연결을 끊는 방법: 지점 \(network)곳은 네트워크 네임스페이스로, \(relay)곳은 중계기로.")
  }

  var chaosHasNoServer: String {
    say(
      "There is no PostgreSQL server on this host for a temporary one. Install it ('apt-get install postgresql'), or "
        + "give an existing server with --store.",
      "임시로 쓸 PostgreSQL 서버가 이 시스템에 없습니다. 설치하거나('apt-get install postgresql') --store로 서버를 지정하세요.")
  }

  var chaosServerSilent: String {
    say("The server does not respond.", "서버가 응답하지 않습니다.")
  }

  var chaosNeedsNoBank: String {
    say(
      "This database already contains a bank: give another one, such as a new database.",
      "이 데이터베이스에 이미 은행이 있습니다. 새로 만든 데이터베이스처럼 다른 것을 지정하세요.")
  }

  var chaosHasItsOwnHomes: String {
    say("--branches creates its own homes; omit --home.", "--branches는 홈을 직접 만듭니다. --home을 빼세요.")
  }

  var chaosWantsBranches: String {
    say("--store requires --branches.", "--store는 --branches와 함께 씁니다.")
  }

  /// Refusal of an option that a run over several branches does not have.
  func chaosNotOverBranches(_ option: String) -> String {
    say(
      "--\(option) cannot be used together with --branches.",
      "\(KoreanParticle.topic.on("--\(option)")) --branches와 함께 쓸 수 없습니다.")
  }

  /// Refusal of a name in `--targets`, with the accepted ones.
  func unknownFault(_ name: String, _ faults: [SharedFault]) -> String {
    let names = faults.map(\.rawValue).joined(separator: ", ")
    return say(
      "With --branches, --targets accepts \(names), not \(quoted(name)).",
      "지점이 여럿이면 --targets에는 \(names)만 쓸 수 있습니다: \(quoted(name))")
  }
}
