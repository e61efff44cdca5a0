// Help texts and options of the commands of the vending machine.
// `BankctlTable` has the whole table and the order of the groups.
import Arguments
import BankModel

extension BankctlTable {
  private static let machine = Text("Vending machine", "자판기")
  private static let manager = Text("Vending machine, manager", "자판기 관리")

  static var vending: [CommandSpec] {
    [
      vendingShow, vendingInsert, vendingBuy, vendingBalance, vendingReturn, vendingHistory, vendingBuyable,
      vendingHot, vendingAdd, vendingRemove, vendingStock, vendingExpired, vendingDiscard,
    ].map(addingTimeout) + [vendingSetAside]
  }

  private static let product = OperandSpec(
    "PRODUCT", .text, offers: ProductTable.standard.products.map(\.id.name),
    "A name from 'bankctl vending'; also in Korean.", "'bankctl vending'에 있는 이름입니다. 영어 이름도 됩니다.")

  private static let pieces = OperandSpec("N", .integer(1...StockLimits.quantity), "Amount.", "개수입니다.")

  private static let vendingShow = CommandSpec(
    "vending", group: machine,
    "Show the vending machine; full-screen on a terminal.", "자판기를 보여 줍니다. 터미널에서는 전체 화면으로 엽니다.",
    details: Text(
      "On a terminal: 1 and 5 insert 1,000 and 5,000 won, the arrows select, Enter buys, r returns the change, comma "
        + "and full stop scroll through the purchases, a opens the manager's screen, q quits. Purchases of others "
        + "appear immediately.",
      "터미널에서는 1과 5로 1,000원과 5,000원을 넣고, 화살표로 골라 Enter로 삽니다. r은 반환, 쉼표와 마침표는 구매 내역 "
        + "넘기기, a는 관리자 화면, q는 나가기입니다. 다른 사람이 사도 바로 보입니다."),
    examples: [
      Example("bankctl vending", "Open the vending machine.", "자판기 화면 열기"),
      Example("bankctl vending --json", "Print JSON for scripts.", "스크립트용 JSON"),
    ])

  private static let vendingInsert = CommandSpec(
    "vending insert", group: machine, "Insert money.", "돈을 넣습니다.",
    examples: [
      Example("bankctl vending insert 1000", "Insert 1,000 won.", "천 원을 넣습니다."),
      Example("bankctl vending insert 5000", "Insert 5,000 won.", "오천 원을 넣습니다."),
    ], operands: [OperandSpec("WON", .integer(VendingLimits.insertion), "Amount in won.", "금액(원)입니다.")])

  private static let vendingBuy = CommandSpec(
    "vending buy", group: machine, "Buy a drink.", "음료를 삽니다.",
    details: Text(
      "Removes the drink from the stock, subtracts its price from the balance and records the purchase, all or "
        + "nothing. If the balance is insufficient or the drink is sold out, nothing is changed and the exit code "
        + "is 5.",
      "재고에서 하나가 나가고, 잔액에서 값이 빠지고, 구매 내역에 남습니다. 이 셋은 모두 이루어지거나 하나도 이루어지지 않습니다. 돈이나 재고가 "
        + "모자라면 아무것도 바꾸지 않고 종료 코드는 5입니다."),
    examples: [
      Example("bankctl vending buy top", "Buy a can of coffee.", "커피 한 캔을 삽니다."),
      Example(
        Text("bankctl vending buy coke", "bankctl vending buy 코카콜라"), "Buy a can of coke.", "코카콜라를 삽니다."),
    ], operands: [product])

  private static let vendingBalance = CommandSpec(
    "vending balance", group: machine, "Show the balance.", "잔액을 보여 줍니다.",
    examples: [Example("bankctl vending balance", "Show the balance.", "잔액")])

  private static let vendingReturn = CommandSpec(
    "vending return", group: machine, "Return the change.", "잔액을 반환합니다.",
    examples: [Example("bankctl vending return", "Return the whole balance.", "남은 돈 모두 반환")])

  private static let vendingHistory = CommandSpec(
    "vending history", group: machine, "List all purchases, oldest first.", "모든 구매 내역을 오래된 것부터 보여 줍니다.",
    examples: [
      Example("bankctl vending history", "List the purchases so far.", "지금까지의 구매 내역"),
      Example(
        "bankctl vending history --json", "Print one JSON object per line.", "한 줄에 JSON 객체 하나씩(스크립트용)"),
    ])

  private static let vendingBuyable = CommandSpec(
    "vending buyable", group: machine, "List what the current balance can buy.", "지금 잔액으로 살 수 있는 음료를 보여 줍니다.",
    examples: [Example("bankctl vending buyable", "List what can be bought.", "살 수 있는 음료")])

  private static let vendingHot = CommandSpec(
    "vending hot", group: machine, "List the hot drinks.", "따뜻한 음료를 보여 줍니다.",
    examples: [
      Example("bankctl vending hot", "List those above 30 degrees.", "30도가 넘는 음료"),
      Example("bankctl vending hot --above 60", "List those above 60 degrees.", "60도가 넘는 음료"),
    ],
    options: [
      OptionSpec(
        "above", .integer(-273...1_000), value: "DEGREES", default: "30",
        "Threshold in degrees Celsius.", "기준 온도(섭씨)입니다.")
    ])

  private static let vendingAdd = CommandSpec(
    "vending admin add", group: manager, "Add drinks.", "음료를 넣습니다.",
    details: Text(
      "They count as produced today and may be sold for seven days unless you give other dates.",
      "날짜를 지정하지 않으면 오늘 만든 것으로 보고 7일 뒤까지 팝니다."),
    examples: [
      Example("bankctl vending admin add top 10", "Add ten cans of coffee.", "커피 열 캔을 넣습니다."),
      Example(
        "bankctl vending admin add coke 5 --made 2026-03-01 --expires 2026-09-01",
        "Add five cans of coke with their dates.", "코카콜라 다섯 개를 날짜와 함께 넣습니다."),
    ], operands: [product, pieces],
    options: [
      OptionSpec(
        "made", .text, value: "DATE", default: Text("today", "오늘"),
        "Production date, such as 2026-03-01.", "제조일입니다. 2026-03-01처럼 씁니다."),
      OptionSpec(
        "expires", .text, value: "DATE", default: Text("7 days later", "7일 뒤"),
        "Expiry date: the last day of sale.", "팔 수 있는 마지막 날입니다."),
    ])

  private static let vendingRemove = CommandSpec(
    "vending admin remove", group: manager,
    "Remove drinks, the earliest to expire first.", "유통기한이 이른 것부터 음료를 뺍니다.",
    examples: [Example("bankctl vending admin remove top 2", "Remove two cans of coffee.", "커피 두 캔을 뺍니다.")],
    operands: [product, pieces])

  private static let vendingStock = CommandSpec(
    "vending admin stock", group: manager,
    "List all drinks in the machine by kind and date.", "자판기 안의 모든 음료를 종류와 날짜별로 보여 줍니다.",
    examples: [Example("bankctl vending admin stock", "List the whole stock.", "전체 재고")])

  private static let vendingExpired = CommandSpec(
    "vending admin expired", group: manager, "List expired drinks.", "유통기한이 지난 음료를 보여 줍니다.",
    examples: [Example("bankctl vending admin expired", "List only the expired drinks.", "유통기한이 지난 음료만")])

  private static let vendingSetAside = CommandSpec(
    "vending admin quarantine", formerNames: ["vending admin set-aside"], group: manager,
    "Move a damaged vending database out of the way.", "손상된 자판기 데이터베이스를 다른 이름으로 옮깁니다.",
    details: Text(
      "The file is renamed and kept, and the machine starts empty, without money and purchases. A database that is not "
        + "damaged stays where it is; the exit code is then 5.",
      "파일은 다른 이름으로 남고, 자판기는 돈과 구매 내역 없이 새로 시작합니다. 손상되지 않은 데이터베이스는 그대로 두고 종료 코드는 5입니다."),
    examples: [Example("bankctl vending admin quarantine", "Move it and start empty.", "자판기를 새로 시작합니다.")])

  private static let vendingDiscard = CommandSpec(
    "vending admin discard-expired", group: manager,
    "Discard expired drinks.", "유통기한이 지난 음료를 폐기합니다.",
    examples: [Example("bankctl vending admin discard-expired", "Discard all of them.", "모두 폐기")])
}
