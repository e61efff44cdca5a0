// Owns what is known of the commands of a history by somebody who sees every process: which customer's it is, who lives of its
// tree, what it has said and how it has ended. It must not judge. Invariant: a process is of one tree, from its start to its end.
import BankModel
import Glibc
import Posix
import Time
import Wire

/// One command with all that descends from it.
final class CommandTree {
  let root: pid_t
  /// Whoever has started the command.
  let runner: SimulatedProcess?
  let name: TicketName
  let service: ServiceName
  let attempt: Int32
  let begunAt: MonotonicTime
  /// Those of it that live.
  var living: Set<pid_t>
  /// What came through the pipes of each stream, whoever of the tree has said it.
  private(set) var said: [CInt: [UInt8]] = [:]
  /// How much of it had been said when the command itself ended.
  private(set) var saidAtTheEnd: [CInt: Int] = [:]
  /// How the command itself has ended, and when.
  private(set) var ending: (end: ProcessEnd, at: MonotonicTime)?

  init(
    _ process: SimulatedProcess, _ name: TicketName, _ service: ServiceName, attempt: Int32,
    at now: MonotonicTime
  ) {
    (root, self.name, self.service, self.attempt, begunAt) = (process.pid, name, service, attempt, now)
    runner = process.starter.flatMap { process.host.processes[$0] }
    living = [process.pid]
  }

  func say(_ bytes: [UInt8], on stream: CInt) { said[stream, default: []] += bytes }

  func end(_ end: ProcessEnd, at moment: MonotonicTime) {
    ending = (end, moment)
    saidAtTheEnd = said.mapValues(\.count)
  }

  /// Why an excerpt is none of what was said on a stream; nil where it is one.
  func objection(to excerpt: Excerpt, on stream: CInt, kept: Int64) -> String? {
    let all = said[stream] ?? []
    guard let length = Int(exactly: excerpt.length), length <= all.count,
      length >= saidAtTheEnd[stream] ?? 0
    else {
      return "\(excerpt.length) bytes, and it has said \(saidAtTheEnd[stream] ?? 0) to \(all.count)"
    }
    let stood = all.prefix(length)
    let isWhole = excerpt.first.count + excerpt.last.count == length
    if !isWhole, excerpt.first.count + excerpt.last.count < min(length, Int(kept)) {
      return "\(excerpt.first.count + excerpt.last.count) of \(length) bytes, and \(kept) are kept"
    }
    guard stood.starts(with: excerpt.first), Array(stood.suffix(excerpt.last.count)) == excerpt.last else {
      return "other bytes than it has said"
    }
    return nil
  }
}

struct CommandLedger {
  /// All commands of a customer, the last one last.
  private(set) var trees: [TicketName: [CommandTree]] = [:]
  private var treeOfProcess: [pid_t: CommandTree] = [:]
  private(set) var keys: [TicketName: String] = [:]
  private(set) var names: [String: TicketName] = [:]
  /// What was to be kept with receipts, as it was staged.
  var results: [TicketName: WorkResult] = [:]
  /// When a customer was taken out.
  var cancelledAt: [TicketName: MonotonicTime] = [:]

  func last(of name: TicketName) -> CommandTree? { trees[name]?.last }
  subscript(pid: pid_t) -> CommandTree? { treeOfProcess[pid] }
  /// Those of a customer of whom somebody lives.
  func living(of name: TicketName) -> [CommandTree] { (trees[name] ?? []).filter { !$0.living.isEmpty } }
  /// All of whom somebody lives, in an order that does not change.
  var living: [CommandTree] {
    trees.values.flatMap { $0.filter { !$0.living.isEmpty } }.sorted { $0.root < $1.root }
  }

  /// The key that a customer had before, and the customer who had the key before, where either is another.
  mutating func know(_ key: String, of name: TicketName) -> (key: String?, name: TicketName?) {
    let found = (keys[name], names[key])
    (keys[name], names[key]) = (found.0 ?? key, found.1 ?? name)
    return (found.0 == key ? nil : found.0, found.1 == name ? nil : found.1)
  }

  mutating func begin(_ tree: CommandTree) {
    trees[tree.name, default: []].append(tree)
    treeOfProcess[tree.root] = tree
  }

  mutating func join(_ pid: pid_t, _ tree: CommandTree) {
    tree.living.insert(pid)
    treeOfProcess[pid] = tree
  }

  /// A process has ended; its tree, where it was of one.
  mutating func end(_ pid: pid_t) -> CommandTree? {
    guard let tree = treeOfProcess.removeValue(forKey: pid) else { return nil }
    tree.living.remove(pid)
    return tree
  }
}
