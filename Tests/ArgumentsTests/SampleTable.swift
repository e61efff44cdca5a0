// A table with one of everything, for the tests of this target: the made-up program `depot`, which is unlike
// all programs of this repository. Invariant: its `faults()` are empty, which a test checks.

import Arguments

extension CommandTable {
  static let storing = Text("Storing", "보관")
  static let looking = Text("Looking", "조회")

  static let sample = CommandTable(
    program: "depot",
    summary: Text("a depot for parcels.", "소포 보관소."),
    examples: [Example("depot put 10", Text("Put ten parcels away.", "소포 열 개를 넣습니다."))],
    globalOptions: [
      OptionSpec(
        "home", .path, value: "DIR", default: "~/.depot", environment: "DEPOT_HOME",
        summary: Text("The depot's directory.", "보관소의 디렉터리.")),
      OptionSpec("lang", .choice(["ko", "en"]), summary: Text("The language.", "언어.")),
      OptionSpec("json", summary: Text("One JSON document.", "JSON 문서 하나.")),
    ],
    commands: [.put, .close, .shelf, .shelfAdd, .adminAdd, .resize, .hold, .follow, .show, .secret],
    exitCodes: [ExitCode(0, Text("Done.", "끝났습니다.")), ExitCode(2, Text("Usage.", "잘못 썼습니다."))])
}

extension CommandSpec {
  static let put = CommandSpec(
    "put", group: CommandTable.storing,
    summary: Text("Put N parcels away.", "소포 N개를 넣습니다."),
    details: Text(
      "Returns when they are on the shelf. The weight is drawn at random where none is given.",
      "선반에 놓이면 끝납니다. 무게가 주어지지 않으면 무작위로 정합니다."),
    examples: [
      Example("depot put 10 --kind parcel --wait", Text("Ten parcels; wait.", "소포 열 개를 넣고 기다립니다.")),
      Example("seq 3 | DEPOT_HOME=/tmp/d depot put --from -", Text("From a pipe.", "파이프에서 읽습니다.")),
    ],
    operands: [
      OperandSpec(
        "N", .integer(1...10_000_000), replacedBy: "from",
        summary: Text("How many parcels.", "소포의 수."))
    ],
    options: [
      OptionSpec("kind", .choice(["parcel", "letter"]), summary: Text("The kind.", "종류.")),
      OptionSpec(
        "weight", .integer(1...5000), value: "GRAM", default: Text("drawn at random", "무작위"),
        summary: Text("The weight.", "무게.")),
      OptionSpec("shift", .integer(-10...10), summary: Text("The shift.", "이동.")),
      OptionSpec("label", .text, repeatable: true, summary: Text("A label.", "꼬리표.")),
      OptionSpec("from", .path, summary: Text("Read parcels from a file.", "파일에서 읽습니다.")),
      OptionSpec("wait", summary: Text("Wait for the end.", "끝날 때까지 기다립니다.")),
      OptionSpec("speed", .speed, default: "1", summary: Text("The speed.", "속도.")),
    ])

  static let close = CommandSpec(
    "close", group: CommandTable.storing, summary: Text("Close the depot.", "보관소를 닫습니다."),
    examples: [Example("depot close --timeout 1m30s", Text("Wait a little.", "조금 기다립니다."))],
    options: [
      OptionSpec("timeout", .duration, summary: Text("How long.", "얼마나 기다릴지.")),
      OptionSpec("now", excludes: ["timeout"], summary: Text("At once.", "곧바로.")),
    ])

  static let shelf = CommandSpec(
    "shelf", group: CommandTable.storing, summary: Text("Show the shelf.", "선반을 보여 줍니다."),
    examples: [Example("depot shelf", Text("Show it.", "보여 줍니다."))])

  static let shelfAdd = CommandSpec(
    "shelf add", group: CommandTable.storing, summary: Text("Add to the shelf.", "선반에 더합니다."),
    examples: [Example("depot shelf add apple -3", Text("Three fewer.", "세 개를 뺍니다."))],
    operands: [
      OperandSpec(
        "ITEM", .choice([Choice("apple", aliases: ["사과"]), Choice("pear", aliases: ["배"])]),
        summary: Text("What.", "무엇을.")),
      OperandSpec("N", .integer(-1000...1000), summary: Text("How many.", "몇 개.")),
    ])

  static let adminAdd = CommandSpec(
    "shelf admin add", group: CommandTable.storing, summary: Text("Add a row.", "줄을 더합니다."),
    examples: [Example("depot shelf admin add 3 --made 2026-07-01", Text("Row 3.", "3번 줄."))],
    operands: [OperandSpec("ROW", .integer(0...Int64.max), .optional, summary: Text("Which.", "어느 줄."))],
    options: [OptionSpec("made", .date, summary: Text("The day.", "날짜."))])

  static let resize = CommandSpec(
    "resize", group: CommandTable.storing, summary: Text("Resize shelves.", "선반 크기를 바꿉니다."),
    examples: [Example("depot resize left=2 right=0", Text("Two and none.", "둘과 없음."))],
    operands: [
      OperandSpec(
        "SHELF=N", .assignment(names: ["left", "right"], 0...64), .repeatingOnceOrMore,
        summary: Text("A shelf and its size.", "선반과 크기."))
    ])

  static let hold = CommandSpec(
    "hold", group: CommandTable.storing, summary: Text("Hold an aisle.", "통로를 막습니다."),
    examples: [Example("depot hold", Text("Requeue all dead letters.", "모두."))],
    operands: [OperandSpec("AISLE", .text, .optional, summary: Text("Which.", "어느 통로."))])

  static let follow = CommandSpec(
    "follow", group: CommandTable.looking, summary: Text("Show the log.", "기록을 보여 줍니다."),
    examples: [Example("depot follow -fn 5", Text("Five lines, then more.", "다섯 줄부터 계속."))],
    operands: [OperandSpec("WORKER", .text, .repeating, summary: Text("Whose.", "누구의."))],
    options: [
      OptionSpec("follow", short: "f", summary: Text("Continue.", "계속 보여 줍니다.")),
      OptionSpec("quiet", short: "q", summary: Text("Say less.", "출력을 줄입니다.")),
      OptionSpec("lines", short: "n", .integer(0...1000), summary: Text("How many lines.", "몇 줄.")),
    ])

  static let show = CommandSpec(
    "show", group: CommandTable.looking, summary: Text("Show receipts.", "영수증을 보여 줍니다."),
    examples: [Example("depot show --day all", Text("All days.", "모든 날."))],
    options: [
      OptionSpec("day", .integerOrWord(1...Int64.max, ["all"]), summary: Text("Which day.", "어느 날."))
    ])

  static let secret = CommandSpec(
    "secret", group: CommandTable.looking, summary: Text("For tests.", "시험용."),
    examples: [Example("depot secret", Text("Nothing.", "없음."))], hidden: true)
}

/// Parses words of a good command.
func run(_ words: String...) throws -> Invocation {
  guard case .run(let invocation) = try CommandTable.sample.parse(words) else {
    throw Unexpected.notACommand(words)
  }
  return invocation
}

/// The error of wrong words.
func refusal(_ words: String...) throws -> UsageError {
  do {
    _ = try CommandTable.sample.parse(words)
  } catch {
    return error
  }
  throw Unexpected.accepted(words)
}

enum Unexpected: Error {
  case notACommand([String])
  case accepted([String])
}
