// Text display of the branches: a line for the bank, and a row for each branch, with a mark on the branch of
// this home.
// Invariant: names and hosts may be cut, numbers are not.
import Arguments
import Wire

/// Makes the text lines about the branches of a shared bank.
struct BranchesRenderer {
  let branches: [BranchReport]
  let messages: MessageCatalog
  let palette: Palette
  var columns: Int?

  /// Minimum width of a cut name.
  private static let shortest = 6

  var lines: [String] {
    let whole = table(name: nil, host: nil)
    let mark = branches.contains(where: \.isThis) ? [palette.paint(messages.isThisBranch, .quiet)] : []
    return Screen.hints(messages.branches(branches), columns: columns)
      + fitted(whole).lines(palette, within: columns) + mark
      + branches.filter { $0.state != .open && ($0.juices ?? 0) > 0 }.flatMap {
        Screen.hints(messages.leftAtBranch($0), columns: columns)
      }
  }

  /// The table with names and hosts cut to the width of the terminal, as far as possible.
  private func fitted(_ whole: TextTable) -> TextTable {
    guard let columns else { return whole }
    let width = whole.aligned(.none).map(DisplayWidth.of).max() ?? 0
    guard width > columns else { return whole }
    let names = widest(\.name, .name)
    let hosts = widest(\.host, .host)
    // The first part of a host name identifies the host. Both columns are cut, equally if possible.
    let room = max(2 * Self.shortest, names + hosts - (width - columns))
    let name = min(names, max(room / 2, room - hosts))
    return table(name: name, host: room - name)
  }

  /// Width of the widest text in a column, with its heading.
  private func widest(_ text: KeyPath<BranchReport, String>, _ column: MessageCatalog.Column) -> Int {
    branches.reduce(DisplayWidth.of(messages.column(column))) {
      max($0, DisplayWidth.of(messages.safe($1[keyPath: text])))
    }
  }

  /// The table with names and hosts cut to these widths; nil for no limit.
  private func table(name: Int?, host: Int?) -> TextTable {
    var table = TextTable([.right, .left, .left, .right, .left, .right, .right, .right, .right, .right])
    table.addHeadings(
      [.number, .name, .host, .epoch, .state, .lease, .windows, .served, .rate, .commits].map(messages.column)
    )
    for branch in branches {
      let role: Palette.Role? = branch.state == .expired ? .alarm : branch.isThis ? .heading : nil
      let lease = branch.leaseMilliseconds > 0 ? messages.span(milliseconds: branch.leaseMilliseconds) : "-"
      table.add([
        .init((branch.isThis ? "*" : "") + String(branch.number), role),
        .init(Screen.cut(messages.safe(branch.name), to: name), role),
        .init(Screen.cut(branch.host.isEmpty ? "-" : messages.safe(branch.host), to: host)),
        .init(branch.epoch), .init(messages.state(branch.state), role), .init(lease), .init(branch.windows),
        .init(MessageCatalog.grouped(branch.served)),
        .init(branch.rate.map { messages.rate(thousandths: $0) } ?? "-"),
        .init(MessageCatalog.grouped(branch.commits)),
      ])
    }
    return table
  }
}
