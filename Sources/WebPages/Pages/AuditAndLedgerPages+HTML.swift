// HTML of the audit and of the ledger.
// Invariant: the result of each check is shown as a word and a number. The row of a check that could not be made does
// not show it as passed. The verdict above the rows depends on the problems found and on the checks that were made.
import BankModel

extension AuditPage {
  /// Title of the page.
  public func title(_ frame: PageFrame) -> String { frame.messages.audit }

  /// True if the audit found no problem and no check that was made shows a difference.
  private var isFulfilled: Bool { problems.isEmpty && guarantees.allSatisfy { $0.difference ?? 0 == 0 } }

  /// Changing regions of the page.
  public func parts(_ frame: PageFrame) -> [Region] {
    let messages = frame.messages
    let counts = BankCounts(
      issued: issued, waiting: waiting, delayed: delayed, served: served, cancelled: cancelled, dead: dead)
    return [
      .block("verdict", verdict(frame)),
      .rows("promises", guarantees, key: \.name.rawValue, row: { row($0, frame) }),
      .block(
        "numbers",
        """
        <dl class="figures">\(frame.figure(messages.issued, counts.issued))\(frame.figure(messages.served, counts.served))\
        \(frame.figure(messages.cancelled, counts.cancelled))\(frame.figure(messages.inProgress, counts.waiting))\
        \(frame.figure(messages.delayed, counts.delayed))\(frame.figure(messages.dead, counts.dead))</dl>
        """),
      .block("problems", list(messages.problems, problems, "alarm")),
      .block("notes", list(messages.notes, notes, "")),
    ]
  }

  /// Content of the page.
  public func body(_ frame: PageFrame, _ regions: [Region]) -> HTML {
    let messages = frame.messages
    return """
      \(frame.heading(messages.audit))
      \(regions.place("verdict", "div", #" aria-live="polite""#))
      \(regions.place("numbers"))
      <section class="card"><div class="scroll-x"><table class="promises"><thead><tr><th scope="col">\(messages.guaranteeHeading)</th>\
      <th scope="col" class="n">\(messages.difference)</th><th scope="col">\(messages.state)</th></tr></thead>
      \(regions.place("promises", "tbody"))</table></div></section>
      \(regions.place("problems"))
      \(regions.place("notes"))
      """
  }

  /// Banner with the result of the audit and its time.
  private func verdict(_ frame: PageFrame) -> HTML {
    guard let time else { return #"<p class="banner">\#(frame.messages.checking)</p>"# }
    return """
      <p class="banner \(isFulfilled ? "good" : "bad")"><b>\(isFulfilled ? frame.messages.allFulfilled : frame.messages.broken)</b> \
      \(frame.moment(time))</p>
      """
  }

  /// Table row of one promise.
  private func row(_ guarantee: GuaranteeRow, _ frame: PageFrame) -> HTML {
    let messages = frame.messages
    let (cssClass, state): (HTML, String) =
      switch guarantee.difference {
      case nil: ("quiet", messages.notChecked)
      case 0?: ("good", "✓ " + messages.isFulfilled)
      default: ("alarm", "✗ " + messages.isBroken)
      }
    return """
      <tr data-key="\(guarantee.name.rawValue)"><th scope="row">\(messages.guarantee(guarantee.name))</th>\
      <td class="n">\(guarantee.difference.map { messages.count($0) } ?? "–")</td><td class="\(cssClass)"><b>\(state)</b></td></tr>
      """
  }

  /// Section with a list of sentences; empty if there are none.
  private func list(_ heading: String, _ sentences: [String], _ cssClass: HTML) -> HTML {
    guard !sentences.isEmpty else { return "" }
    return """
      <section class="card"><h2>\(heading)</h2><ul class="\(cssClass)">\(sentences.prefix(200).map { "<li>\($0)</li>" as HTML })</ul></section>
      """
  }
}

extension PageMessages {
  /// Name of a promise.
  func guarantee(_ guarantee: Guarantee) -> String {
    switch guarantee {
    case .lost: localized("No ticket is lost", "유실된 번호표가 없음")
    case .duplicated: localized("No ticket is duplicated", "중복된 번호표가 없음")
    case .ledger: localized("The ledger balances", "원장의 차액이 0")
    case .stock: localized("Stock is complete", "재고의 차이가 0")
    case .money: localized("Money of the machine is complete", "자판기 돈의 차이가 0")
    }
  }
}

extension LedgerPage {
  /// Title of the page.
  public func title(_ frame: PageFrame) -> String { frame.messages.ledger }

  /// Sums of all debits and of all credits.
  private var sums: (debit: WonSum, credit: WonSum) {
    lines.reduce((0, 0)) { ($0.0 &+ $1.debit, $0.1 &+ $1.credit) }
  }

  /// Changing regions of the page.
  public func parts(_ frame: PageFrame) -> [Region] {
    let parts: [Region] = [
      .block("verdict", verdict(frame)),
      .rows("accounts", lines, key: \.account, row: { row($0, frame) }),
      .block("total", total(frame)),
    ]
    guard account != nil else { return parts }
    return parts + [.rows("latest", latest, key: { "\($0.sequence)" }, row: frame.receiptRow)]
  }

  /// Content of the page.
  public func body(_ frame: PageFrame, _ regions: [Region]) -> HTML {
    let messages = frame.messages
    let back: HTML? = account.map { _ in #"<a class="button" href="/ledger">\#(messages.allAccounts)</a>"# }
    let head = [messages.debit, messages.credit, messages.balance, messages.transfers].map { text -> HTML in
      #"<th scope="col" class="n">\#(text)</th>"#
    }
    // Only the page of a single account lists its transfers.
    let transfers: HTML? =
      account == nil
      ? nil
      : """
      <section class="card"><h2>\(messages.latestTransfers)</h2>\
      \(frame.receiptTable(regions.place("latest", "tbody", #" data-empty="\#(messages.noReceipts)""#)))</section>
      """
    return """
      \(frame.heading(account.map(messages.phrases.ledgerAccount) ?? messages.ledger, back))
      \(regions.place("verdict"))
      <section class="card"><div class="scroll-x"><table class="stack"><thead><tr><th scope="col">\(messages.account)</th>\(head)</tr></thead>
      \(regions.place("accounts", "tbody", #" data-empty="\#(messages.noEntries)""#))\(regions.place("total", "tfoot"))</table></div></section>
      \(transfers)
      """
  }

  /// Banner that says if debits and credits are equal; empty on the page of one account.
  private func verdict(_ frame: PageFrame) -> HTML {
    guard account == nil else { return "" }
    let isZero = sums.debit == sums.credit
    return """
      <p class="banner \(isZero ? "good" : "bad")"><b>\(isZero ? frame.messages.balanced : frame.messages.unbalanced)</b></p>
      """
  }

  /// Table row of one account.
  private func row(_ line: LedgerLine, _ frame: PageFrame) -> HTML {
    let messages = frame.messages
    return """
      <tr data-key="\(line.account)"><th scope="row"><a href="/ledger?account=\(line.account)">\(messages.phrases.ledgerAccount(line.account))</a></th>\
      \(frame.cell(messages.debit, "\(messages.won(line.debit))", "n"))\(frame.cell(messages.credit, "\(messages.won(line.credit))", "n"))\
      \(frame.cell(messages.balance, "\(messages.won(line.credit &- line.debit))", "n"))\
      \(frame.cell(messages.transfers, "\(messages.count(line.transfers))", "n"))</tr>
      """
  }

  /// Table row of the sums; empty on the page of one account.
  private func total(_ frame: PageFrame) -> HTML {
    guard account == nil, !lines.isEmpty else { return "" }
    let (messages, sums) = (frame.messages, sums)
    return """
      <tr><th scope="row">\(messages.total)</th>\(frame.cell(messages.debit, "\(messages.won(sums.debit))", "n"))\
      \(frame.cell(messages.credit, "\(messages.won(sums.credit))", "n"))\
      \(frame.cell(messages.balance, "\(messages.won(sums.credit &- sums.debit))", "n"))<td></td></tr>
      """
  }
}
