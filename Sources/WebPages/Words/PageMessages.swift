// Choice of the language for the texts of a page.
// Invariant: a text is defined in both languages at the same place. Terms of the domain come from `StringCatalog`.
import Arguments
import BankModel

/// Texts of a page in one language.
@dynamicMemberLookup
struct PageMessages {
  let language: Language

  /// Sentences that the terminal uses too.
  var phrases: StringCatalog { StringCatalog(language) }

  /// A constant text in the language of the page.
  subscript(dynamicMember sentence: KeyPath<PageStrings, Text>) -> String {
    PageStrings.all[keyPath: sentence][language == .korean ? .korean : .english]
  }

  /// Returns the text in the language of the page; the other one is not evaluated.
  func localized(_ english: @autoclosure () -> String, _ korean: @autoclosure () -> String) -> String {
    language == .korean ? korean() : english()
  }

  /// A number with commas.
  func count(_ number: some BinaryInteger) -> String { StringCatalog.grouped(number) }

  /// A number of customers: `3 customers`, `3명`.
  func customerCount(_ number: Int64) -> String {
    localized("\(count(number)) \(number == 1 ? "customer" : "customers")", "\(count(number))명")
  }

  /// A number of waiting customers: `3 customers waiting`, `대기중 3명`.
  func waitingCount(_ number: Int64) -> String {
    localized("\(customerCount(number)) waiting", "대기중 \(customerCount(number))")
  }
  /// A number of customers at windows: `3 being served`, `업무중 3명`.
  func servingCount(_ number: Int64) -> String {
    localized("\(count(number)) being served", "업무중 \(customerCount(number))")
  }

  /// A number of pieces in stock: `3 left`, `3개`.
  func pieces(_ number: Quantity) -> String { localized("\(count(number)) left", "\(count(number))개") }

  /// Display name of a fruit or drink; its name in commands if it is not a standard item.
  func item(_ id: ItemID) -> String {
    Assortment.standard.fruits.first { $0.id == id }?.name(in: language)
      ?? ProductTable.standard[id].map { language == .korean ? $0.name : $0.english } ?? id.name
  }

  /// Display name of a juice; its name in commands if it is not in the standard assortment.
  func juice(_ id: ItemID) -> String {
    Assortment.standard.juices.first { $0.id == id }?.name(in: language) ?? id.name
  }

  /// Short text of a customer's state.
  func stateLabel(_ state: CustomerState) -> String {
    switch state {
    case .waiting: self.waiting
    case .delayed: self.delayed
    case .dead: self.dead
    case .serving: self.serving
    case .done: self.done
    }
  }

  /// Text of a juice's button: `딸기쥬스 주문`. The Korean button has a shorter name for one juice: `망키쥬스 주문`.
  func order(_ juice: String) -> String {
    localized("Order \(juice)", "\(juice == "망고키위쥬스" ? "망키쥬스" : juice) 주문")
  }

  /// Name of a window in a call: `예금 2번 창구`, or `deposit-2` in English.
  func windowLabel(_ window: String, _ service: ServiceName) -> String {
    let (head, number) = (service.text + "-", window.dropFirst(service.text.count + 1))
    guard language == .korean, window.hasPrefix(head), Int32(number) != nil else { return window }
    return "\(phrases.service(service)) \(number)번 창구"
  }

  /// Name of a customer: `Customer 7`, `7번 고객`.
  func customer(_ ticket: TicketNumber) -> String { localized("Customer \(ticket)", "\(ticket)번 고객") }
  /// Name of a business day: `day 2`, `영업 2일차`.
  func day(_ day: Int64) -> String { localized("day \(day)", "영업 \(day)일차") }
  /// Name of a generation: `generation 3`, `3세대`.
  func generation(_ number: some BinaryInteger) -> String { localized("generation \(number)", "\(number)세대") }
  /// Name of an attempt: `attempt 2`, `2번째 시도`.
  func attempt(_ number: Int64) -> String { localized("attempt \(number)", "\(number)번째 시도") }

  /// A rate in thousandths per second: `12.3/s`, `초당 12.3명`. A rate above 0 and below 0.5 per second is shown per
  /// minute.
  func rate(_ thousandths: Int64) -> String {
    if 1..<500 ~= thousandths {
      let text = rateNumber(thousandths * 60)
      return localized("\(text)/min", "분당 \(text)명")
    }
    let text = rateNumber(thousandths)
    return localized("\(text)/s", "초당 \(text)명")
  }

  /// Remark at the place where bytes of a text are omitted.
  func omission(_ hidden: Int64, of length: Int64) -> String {
    localized(
      "\(count(hidden)) of \(count(length)) bytes are left out here.",
      "전체 \(count(length))바이트 가운데 \(count(hidden))바이트를 여기서 생략했습니다.")
  }

  /// Name of a branch: `branch 1`, `지점 1`.
  func branchNumber(_ number: Int64) -> String { localized("branch \(number)", "지점 \(number)") }

  /// Description of a branch in one line: `1 · seoul · db-1 · 4 windows · 120 served · 12.3/s`.
  func line(of branch: BranchRow) -> String {
    let windows = localized(
      "\(branch.windows) \(branch.windows == 1 ? "window" : "windows")", "창구 \(branch.windows)개")
    let served = localized("\(count(branch.served)) served", "완료 \(count(branch.served))")
    let here = branch.isThis ? localized("this branch", "이 지점") : nil
    let parts = [
      "\(branch.number)", branch.name, branch.host.isEmpty ? nil : branch.host, windows, served,
      branch.rate.map(rate), here,
    ]
    return parts.compactMap(\.self).joined(separator: " · ")
  }

  /// A rate in thousandths, without its unit: `123`, `12.3`, `0.12`.
  func rateNumber(_ thousandths: Int64) -> String {
    let number = max(0, thousandths)
    switch number {
    case 1..<1_000: return "0." + String(number / 10, digits: 2)
    case ..<100_000: return "\(count(number / 1_000)).\(number / 100 % 10)"
    default: return count(number / 1_000)
    }
  }

  /// Bytes of memory: `7.8 MB`.
  func memory(_ bytes: Int64) -> String {
    let tenths = max(0, bytes) / 100_000
    return "\(count(tenths / 10)).\(tenths % 10) MB"
  }

  /// An amount of money: `1,234 won`, `1,234원`.
  func won(_ amount: some BinaryInteger) -> String { phrases.won(amount) }
}
