// Options that a waiting command advises: those it has, and none that was given.

import Arguments
import BankModel
import Posix
import Testing
import Time
import Wire

@testable import BankctlCommands

@Suite("Advised options")
struct FreeOptionsTests {
  private let english = MessageCatalog(language: .english)
  private let korean = MessageCatalog(language: .korean)

  private func free(_ words: String...) throws -> FreeOptions {
    guard case .run(let invocation) = try BankctlTable.table.parse(words) else { return .none }
    return FreeOptions(of: invocation)
  }

  private let paused = ServiceReport(
    service: .loan, windows: 1, waiting: 3, serving: 0, served: 0, paused: true)

  @Test("a command advises the options that it has and that were not given")
  func options() throws {
    #expect(try free("wait") == FreeOptions(unlessPaused: true, timeout: true, leaveDelayed: true))
    #expect(try free("wait", "--timeout", "5s", "--leave-delayed") == FreeOptions(unlessPaused: true))
    #expect(try free("enqueue", "3", "--wait") == FreeOptions(unlessPaused: true))
    #expect(try free("enqueue", "3", "--wait", "--unless-paused") == .none)
    #expect(try free("stop") == FreeOptions(leaveDelayed: true, stepTimeout: true))
    #expect(try free("stop", "--timeout", "5s") == FreeOptions(leaveDelayed: true))
  }

  @Test("the message about a paused service names only free options")
  func pausedService() throws {
    let all = english.waitsForPaused(paused, try free("wait"))
    #expect(
      all.hasSuffix("3 waiting. Use --unless-paused to end the wait in this case, --timeout to limit it."))
    let limited = english.waitsForPaused(paused, try free("wait", "--timeout", "5s"))
    #expect(limited.hasSuffix("3 waiting. Use --unless-paused to end the wait in this case."))
    #expect(
      english.waitsForPaused(paused, FreeOptions(timeout: true)).hasSuffix("Use --timeout to limit the wait.")
    )
    #expect(english.waitsForPaused(paused, .none) == "loan is paused: bankctl resume loan. 3 waiting.")
    #expect(korean.waitsForPaused(paused, .none).hasSuffix("3명이 기다립니다."))
  }

  @Test("a wait that --unless-paused ends does not advise it")
  func ended() {
    for words in [english, korean] {
      let progress = WaitProgress(words, endsWhenPaused: true)
      let error = #expect(throws: CommandError.self) { try progress.show(picture(), crowd: nil) }
      guard case .commandFailure(let commandFailure)? = error else {
        Issue.record("\(String(describing: error))")
        continue
      }
      #expect(
        commandFailure.code == "paused" && !commandFailure.message.contains("--"), "\(commandFailure.message)"
      )
    }
  }

  @Test("the message about delayed customers names only free options")
  func delayed() throws {
    let waiting = english.waitsForDelayed(2, until: nil, try free("wait"))
    #expect(waiting.contains("'bankctl wait --leave-delayed'") && waiting.contains("--timeout"))
    #expect(
      english.waitsForDelayed(2, until: nil, try free("enqueue", "3", "--wait"))
        == "Only delayed customers, for later or for a retry, remain: 2. 'bankctl cancel' cancels them.")
    #expect(
      korean.waitsForDelayed(2, until: nil, .none)
        == "예약·재시도 고객만 남았습니다. 2명. 'bankctl cancel'은 이 고객을 취소합니다.")
    let drain = DrainReport(step: .serveWaiting, waiting: 2, serving: 0, delayed: 2)
    #expect(english.drain(drain, try free("stop")).contains("--leave-delayed' or --step-timeout leaves"))
    let limited = english.drain(drain, try free("stop", "--step-timeout", "5s"))
    #expect(limited.contains("'bankctl stop --leave-delayed' leaves") && !limited.contains("--step-timeout"))
    let left = english.drain(drain, try free("stop", "--leave-delayed"))
    #expect(left.contains("2 of them are delayed; they wait for the next start.") && !left.contains("--"))
    #expect(!korean.drain(drain, try free("stop", "--leave-delayed")).contains("--"))
  }
}
