// HTML of the audit and of the ledger.
// Invariant: the result of each check is shown as a word and a number. The row of a check that could not be made does
// not show it as passed. The verdict above the rows depends only on the checks that were made.
import BankModel

extension AuditPage {
  /// Title of the page.
  public func title(_ frame: PageFrame) -> String { frame.words.audit }

  private var isKept: Bool { problems.isEmpty && promises.allSatisfy { $0.difference ?? 0 == 0 } }

  /// Changing regions of the page.
  public func parts(_ frame: PageFrame) -> [Region] {
    let words = frame.words
    let counts = BranchCounts(
      issued: issued, waiting: waiting, delayed: delayed, served: served, cancelled: cancelled, dead: dead)
    return [
      .block("verdict", verdict(frame)),
      .rows("promises", promises, key: \.name.rawValue, row: { row($0, frame) }),
      .block(
        "numbers",
        """
        <dl class="figures">\(frame.figure(words.issued, counts.issued))\(frame.figure(words.served, counts.served))\
        \(frame.figure(words.cancelled, counts.cancelled))\(frame.figure(words.inHouse, counts.waiting))\
        \(frame.figure(words.delayed, counts.delayed))\(frame.figure(words.dead, counts.dead))</dl>
        """),
      .block("problems", list(words.problems, problems, "alarm")),
      .block("notes", list(words.notes, notes, "")),
    ]
  }

  /// Content of the page.
  public func body(_ frame: PageFrame, _ regions: [Region]) -> HTML {
    let words = frame.words
    return """
      \(frame.heading(words.audit))
      \(regions.place("verdict", "div", #" aria-live="polite""#))
      \(regions.place("numbers"))
      <section class="card"><div class="scroll-x"><table class="promises"><thead><tr><th scope="col">\(words.promiseHeading)</th>\
      <th scope="col" class="n">\(words.difference)</th><th scope="col">\(words.state)</th></tr></thead>
      \(regions.place("promises", "tbody"))</table></div></section>
      \(regions.place("problems"))
      \(regions.place("notes"))
      """
  }

  private func verdict(_ frame: PageFrame) -> HTML {
    guard let time else { return #"<p class="banner">\#(frame.words.checking)</p>"# }
    return """
      <p class="banner \(isKept ? "good" : "bad")"><b>\(isKept ? frame.words.kept : frame.words.broken)</b> \
      \(frame.moment(time))</p>
      """
  }

  private func row(_ promise: PromiseRow, _ frame: PageFrame) -> HTML {
    let words = frame.words
    let (look, state): (HTML, String) =
      switch promise.difference {
      case nil: ("quiet", words.notChecked)
      case 0?: ("good", "✓ " + words.isKept)
      default: ("alarm", "✗ " + words.isBroken)
      }
    return """
      <tr data-key="\(promise.name.rawValue)"><th scope="row">\(words.promise(promise.name))</th>\
      <td class="n">\(promise.difference.map { words.count($0) } ?? "–")</td><td class="\(look)"><b>\(state)</b></td></tr>
      """
  }

  private func list(_ heading: String, _ sentences: [String], _ look: HTML) -> HTML {
    guard !sentences.isEmpty else { return "" }
    return """
      <section class="card"><h2>\(heading)</h2><ul class="\(look)">\(sentences.prefix(200).map { "<li>\($0)</li>" as HTML })</ul></section>
      """
  }
}

extension PageWords {
  /// Name of a promise.
  func promise(_ promise: Promise) -> String {
    switch promise {
    case .lost: say("No ticket is lost", "유실된 번호표가 없음")
    case .duplicated: say("No ticket is duplicated", "중복된 번호표가 없음")
    case .ledger: say("The ledger balances", "원장의 차액이 0")
    case .stock: say("Stock is complete", "재고의 차이가 0")
    case .money: say("Money of the machine is complete", "자판기 돈의 차이가 0")
    }
  }
}

extension LedgerPage {
  /// Title of the page.
  public func title(_ frame: PageFrame) -> String { frame.words.ledger }

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
    let words = frame.words
    let back: HTML? = account.map { _ in #"<a class="button" href="/ledger">\#(words.allAccounts)</a>"# }
    let head = [words.debit, words.credit, words.balance, words.transfers].map { text -> HTML in
      #"<th scope="col" class="n">\#(text)</th>"#
    }
    // Only the page of a single account lists its transfers.
    let transfers: HTML? =
      account == nil
      ? nil
      : """
      <section class="card"><h2>\(words.latestTransfers)</h2>\
      \(frame.receiptTable(regions.place("latest", "tbody", #" data-empty="\#(words.noReceipts)""#)))</section>
      """
    return """
      \(frame.heading(account.map(words.phrases.ledgerAccount) ?? words.ledger, back))
      \(regions.place("verdict"))
      <section class="card"><div class="scroll-x"><table class="stack"><thead><tr><th scope="col">\(words.account)</th>\(head)</tr></thead>
      \(regions.place("accounts", "tbody", #" data-empty="\#(words.noEntries)""#))\(regions.place("total", "tfoot"))</table></div></section>
      \(transfers)
      """
  }

  private func verdict(_ frame: PageFrame) -> HTML {
    guard account == nil else { return "" }
    let isZero = sums.debit == sums.credit
    return """
      <p class="banner \(isZero ? "good" : "bad")"><b>\(isZero ? frame.words.balanced : frame.words.unbalanced)</b></p>
      """
  }

  private func row(_ line: LedgerLine, _ frame: PageFrame) -> HTML {
    let words = frame.words
    return """
      <tr data-key="\(line.account)"><th scope="row"><a href="/ledger?account=\(line.account)">\(words.phrases.ledgerAccount(line.account))</a></th>\
      \(frame.cell(words.debit, "\(words.won(line.debit))", "n"))\(frame.cell(words.credit, "\(words.won(line.credit))", "n"))\
      \(frame.cell(words.balance, "\(words.won(line.credit &- line.debit))", "n"))\
      \(frame.cell(words.transfers, "\(words.count(line.transfers))", "n"))</tr>
      """
  }

  private func total(_ frame: PageFrame) -> HTML {
    guard account == nil, !lines.isEmpty else { return "" }
    let (words, sums) = (frame.words, sums)
    return """
      <tr><th scope="row">\(words.total)</th>\(frame.cell(words.debit, "\(words.won(sums.debit))", "n"))\
      \(frame.cell(words.credit, "\(words.won(sums.credit))", "n"))\
      \(frame.cell(words.balance, "\(words.won(sums.credit &- sums.debit))", "n"))<td></td></tr>
      """
  }
}
