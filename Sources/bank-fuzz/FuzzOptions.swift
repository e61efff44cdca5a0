// Command line of the program that fuzzes a real coordinator, or the web server, through its real socket. Users run
// `scripts/fuzz --socket` or `--web`.
import Arguments
import BankctlCommands
import Posix
import Time

/// The arguments of `bank-fuzz`.
struct FuzzOptions {
  /// Scratch directory of the run.
  let scratch: String
  /// Duration of the attacks.
  let span: TimeSpan
  let seed: UInt64
  /// True if the server of the web page is attacked instead of the coordinator.
  let isWeb: Bool

  static let table = CommandTable(
    program: "bank-fuzz",
    only: CommandSpec(
      summary: Text(
        "Attack a coordinator through its socket and report whether it was harmed.",
        "코디네이터를 소켓으로 공격하고 해를 입었는지 알려 줍니다."),
      examples: [
        Example("bank-fuzz /tmp/scratch --for 10s", Text("Attack for ten seconds.", "10초 동안 공격합니다."))
      ],
      operands: [ScratchDirectory.operand],
      options: [
        OptionSpec(
          "for", .duration, default: "1m",
          summary: Text("Duration, from 1s to 24h.", "공격하는 시간입니다. 1s부터 24h까지 쓸 수 있습니다.")),
        OptionSpec(
          "web",
          summary: Text("Attack the web server.", "코디네이터 대신 웹 서버를 공격합니다.")),
        OptionSpec(
          "seed", .integer(0...Int64.max), value: "S", default: Text("from the system", "시스템이 정함"),
          summary: Text("Repeat the same attacks.", "같은 공격을 반복합니다.")),
      ]), exitCodes: BankctlTable.commonExitCodes)

  init(_ invocation: Invocation, _ catalog: MessageCatalog) throws(CommandError) {
    scratch = try ScratchDirectory.path(invocation, catalog)
    span = invocation.duration("for") ?? .seconds(60)
    seed = invocation.integer("seed").map { UInt64($0) } ?? RandomSeed.fromSystem() >> 32
    isWeb = invocation.flag("web")
    guard .seconds(1)...(.seconds(86_400)) ~= span else {
      throw .usage(catalog.say("--for must be between 1s and 24h.", "--for에는 1s부터 24h까지 쓸 수 있습니다."))
    }
  }
}
