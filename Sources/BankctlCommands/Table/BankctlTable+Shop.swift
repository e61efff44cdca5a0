// Help texts and options of the commands for juices and the stock.
// `BankctlTable` has the whole table and the order of the groups.
import Arguments
import BankModel

extension BankctlTable {
  private static let juices = Text("Juice", "쥬스")
  private static let shelves = Text("Stock", "재고")

  static var shop: [CommandSpec] {
    [addingTimeout(juiceMenu), juiceOrder]
      + [stock, stockSet, stockAdd, stockEdit, stockWatch].map(addingTimeout)
  }

  /// Adds `--timeout` to a command that waits for answers of the stock or the vending machine.
  static func addingTimeout(_ command: CommandSpec) -> CommandSpec {
    var command = command
    command.options.append(timeout)
    return command
  }

  private static let timeout = OptionSpec(
    "timeout", .duration, value: "T", default: Text("10s", "10초"),
    "Time limit for a response of the stock or the vending machine; then exit with 75.",
    "재고나 자판기의 응답을 기다리는 시간 제한입니다. 지나면 종료 코드는 75입니다.")

  private static let fruit = OperandSpec(
    "FRUIT", .text, offers: Assortment.standard.fruits.map(\.id.name),
    "strawberry, banana, pineapple, kiwi or mango; also in Korean.",
    "딸기, 바나나, 파인애플, 키위, 망고 중 하나입니다. 영어 이름도 됩니다.")

  private static let juiceMenu = CommandSpec(
    "juice menu", group: juices,
    "List the juices with their ingredients, and which can be made now.", "쥬스와 재료, 지금 만들 수 있는지를 보여 줍니다.",
    examples: [Example("bankctl juice menu", "See what can be made now.", "지금 만들 수 있는 것을 봅니다.")])

  private static let juiceOrder = CommandSpec(
    "juice order", group: juices, "Order a juice and wait for it.", "쥬스를 주문하고 기다립니다.",
    details: Text(
      "The order queues at the juice station like any customer. With too little fruit nothing is taken and the exit "
        + "code is 5; on a terminal you are asked whether to change the stock. Ctrl-C cancels orders that are not "
        + "being made yet. With --json there is one object per line, one for each juice.",
      "주문은 다른 고객처럼 쥬스 스테이션에 줄을 섭니다. 재료가 모자라면 아무것도 쓰지 않고 종료 코드는 5이며, 터미널에서는 재고를 "
        + "수정할지 묻습니다. Ctrl-C는 아직 만들지 않은 주문을 취소합니다. --json이면 쥬스 하나에 한 줄씩 객체를 씁니다."),
    examples: [
      Example(
        Text("bankctl juice order banana", "bankctl juice order 바나나쥬스"), "Order one banana juice.",
        "바나나쥬스 한 잔을 주문합니다."),
      Example(
        Text("bankctl juice order strawberry-banana 3", "bankctl juice order 딸바쥬스 3"),
        "Order three strawberry-banana juices.", "딸바쥬스 세 잔을 주문합니다."),
    ],
    operands: [
      OperandSpec(
        "NAME", .text, offers: Assortment.standard.juices.map(\.id.name),
        "A name from 'bankctl juice menu'; also in Korean.", "'bankctl juice menu'에 있는 이름입니다. 영어 이름도 됩니다."),
      OperandSpec(
        "N", .integer(1...JuiceCommands.most), .optional,
        summary: Text("Number of juices; default 1.", "잔 수입니다. 기본값은 1입니다.")),
    ],
    options: [
      OptionSpec(
        "stall-timeout", .duration, value: "T", default: Text("10s", "10초"), aliases: ["timeout"],
        "Time limit for a stock or a juice station that is stuck; then the order is cancelled and the exit code is 75.",
        "응답 없는 재고나 쥬스 스테이션을 기다리는 시간 제한입니다. 지나면 주문을 취소하고 종료 코드는 75입니다.")
    ])

  private static let stock = CommandSpec(
    "stock", group: shelves, "Show the stock.", "재고를 보여 줍니다.",
    examples: [Example("bankctl stock", "Show every fruit and its amount.", "과일마다의 개수")])

  private static let stockSet = CommandSpec(
    "stock set", group: shelves, "Set the amount of a fruit.", "과일의 개수를 정합니다.",
    examples: [
      Example(
        Text("bankctl stock set strawberry 16", "bankctl stock set 딸기 16"),
        "Set strawberries to 16.", "딸기를 16개로 설정합니다.")
    ], operands: [fruit, OperandSpec("N", .integer(0...StockLimits.quantity), "Amount.", "개수입니다.")])

  private static let stockAdd = CommandSpec(
    "stock add", group: shelves, "Add or remove fruit.", "과일을 더하거나 뺍니다.",
    details: Text(
      "Never below 0 and never above 1,000,000: then nothing is changed and the exit code is 5.",
      "0보다 적어지거나 1,000,000보다 많아지면 아무것도 바꾸지 않고 종료 코드는 5입니다."),
    examples: [
      Example(
        Text("bankctl stock add kiwi 5", "bankctl stock add 키위 5"), "Add five kiwis.", "키위 다섯 개를 더합니다."),
      Example(
        Text("bankctl stock add kiwi -2", "bankctl stock add 키위 -2"), "Remove two kiwis.", "키위 두 개를 뺍니다."),
    ],
    operands: [
      fruit,
      OperandSpec(
        "N", .integer(-StockLimits.quantity...StockLimits.quantity),
        "Amount to add; negative to remove.", "더할 개수입니다. 음수면 뺍니다."),
    ])

  private static let stockEdit = CommandSpec(
    "stock edit", group: shelves, "Edit the stock in a full-screen editor.", "터미널 전체 화면에서 재고를 수정합니다.",
    details: Text(
      "The arrow keys select a fruit, - and + change it, q quits. Each key takes effect immediately.",
      "화살표로 과일을 고르고 -와 +로 바꾸며, q로 나갑니다. 누를 때마다 바로 반영됩니다."),
    examples: [Example("bankctl stock edit", "Open the editor.", "편집기를 엽니다.")])

  private static let stockWatch = CommandSpec(
    "stock watch", group: shelves,
    "Show the stock, and a line for each change.", "재고를 보여 주고, 바뀔 때마다 한 줄씩 알립니다.",
    details: Text(
      "Every change appears once and in order, even if the stock service is restarted. It ends when the bank closes.",
      "재고 서비스가 다시 시작되어도 모든 변경이 순서대로 한 번씩 나옵니다. 은행이 닫히면 끝납니다."),
    examples: [
      Example("bankctl stock watch", "Show changes as they happen.", "바뀌는 대로 봅니다."),
      Example(
        "bankctl stock watch --json", Text("Print one JSON object per line.", "한 줄에 JSON 객체 하나씩(스크립트용)")),
    ])
}
