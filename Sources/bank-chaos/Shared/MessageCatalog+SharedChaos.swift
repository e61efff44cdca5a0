// Messages of a chaos run over several branches.
// They format results in two languages and compute none.
import Arguments
import Console

extension MessageCatalog {
  func chaosBegins(seed: Int64, branches: Int) -> String {
    say(
      "Chaos over \(branches) branches that share a bank, seed \(seed).",
      "은행을 함께 쓰는 지점 \(branches)곳에서 혼돈 시험을 시작합니다. 시드 \(seed).")
  }

  func chaosProgress(_ counts: [SharedAct: Int64], acknowledged: Int64) -> String {
    let done = counts.values.reduce(0, +)
    return say("blows: \(done); tickets \(acknowledged); served", "타격: \(done); 번호표 \(acknowledged); 처리")
  }

  func done(_ act: SharedAct) -> String {
    switch act {
    case .teller: say("SIGKILL to tellers", "SIGKILL: 은행원")
    case .coordinator: say("SIGKILL to coordinators", "SIGKILL: 코디네이터")
    case .branch: say("whole branches killed", "통째로 죽인 지점")
    case .session: say("sessions ended at the server", "서버에서 끊은 세션")
    case .backend: say("SIGKILL to processes of the server", "SIGKILL: 서버의 프로세스")
    case .stop: say("server stopped at once and started", "바로 멈췄다 시작한 서버")
    case .server: say("SIGKILL to the server", "SIGKILL: 서버")
    case .partition: say("branches cut off", "연결이 끊긴 지점")
    case .zombie: say("coordinators stopped for longer than a lease", "임대보다 오래 멈춘 코디네이터")
    }
  }

  var chaosSnapshot: String { say("longest snapshot of the books", "가장 오래 붙들린 장부 스냅숏") }

  func servedAgain(_ times: ChaosTimes) -> String {
    say("served again: \(self.times(times))", "업무 재개: \(self.times(times))")
  }

  var chaosSharedClean: String {
    say(
      "Every promise was kept over all branches: nobody lost, nobody twice, every key one ticket.",
      "모든 지점에서 약속이 지켜졌습니다. 잃은 고객도, 두 번 처리된 고객도 없고 키마다 번호표가 하나입니다.")
  }

  func chaosWays(network: Int, relay: Int) -> String {
    say(
      "Cut off: \(network) branches by a network of their own, \(relay) by a relay.",
      "연결을 끊는 방법: 지점 \(network)곳은 따로 둔 네트워크로, \(relay)곳은 중계기로.")
  }

  var chaosHasNoServer: String {
    say(
      "There is no PostgreSQL server on this machine to make a scratch one with. Install it ('apt-get install postgresql'), or "
        + "name a server that is there with --store.",
      "임시로 쓸 PostgreSQL 서버가 이 기계에 없습니다. 설치하거나('apt-get install postgresql') --store로 서버를 알려 주세요.")
  }

  var chaosServerSilent: String {
    say("The server does not answer.", "서버가 답하지 않습니다.")
  }

  var chaosNeedsNoBank: String {
    say(
      "There is a bank in this database: name another one, such as a database that was just made.",
      "이 데이터베이스에 이미 은행이 있습니다. 새로 만든 데이터베이스처럼 다른 것을 알려 주세요.")
  }

  var chaosHasItsOwnHomes: String {
    say("--branches makes homes of its own; leave --home out.", "--branches는 홈을 스스로 만듭니다. --home을 빼세요.")
  }

  var chaosWantsBranches: String {
    say("--store goes together with --branches.", "--store는 --branches와 함께 씁니다.")
  }

  func chaosNotOverBranches(_ option: String) -> String {
    say(
      "--\(option) cannot be used together with --branches.",
      "\(Particle.topic.on("--\(option)")) --branches와 함께 쓸 수 없습니다.")
  }

  func noSuchAct(_ name: String, _ acts: [SharedAct]) -> String {
    let names = acts.map(\.rawValue).joined(separator: ", ")
    return say(
      "Over branches --kill knows \(names), not \(quoted(name)).",
      "지점이 여럿이면 --kill에는 \(names)만 쓸 수 있습니다: \(quoted(name))")
  }
}
