// Record of a history's commands, as observed from the processes: the customer of each command, the running processes
// of its tree, its output and its exit.
// Invariant: a process of a command belongs to one tree from its start to its exit.
import BankModel
import Glibc
import Posix
import Time
import Wire

/// A command and all its descendants.
final class CommandTree {
  let root: pid_t
  /// The process that started the command.
  let runner: SimulatedProcess?
  /// The customer for whom the command works.
  let name: TicketID
  let service: ServiceName
  let attempt: Int32
  let startedAt: MonotonicTime
  var stillRunning: Set<pid_t>
  /// Bytes written to each stream's pipe by any process of the tree.
  private(set) var output: [CInt: [UInt8]] = [:]
  /// Number of bytes written to each pipe before the command itself exited.
  private(set) var outputAtExit: [CInt: Int] = [:]
  /// Exit of the command itself, and its time.
  private(set) var ending: (end: ProcessEnd, at: MonotonicTime)?

  init(
    _ process: SimulatedProcess, _ name: TicketID, _ service: ServiceName, attempt: Int32,
    at now: MonotonicTime
  ) {
    (root, self.name, self.service, self.attempt, startedAt) = (process.pid, name, service, attempt, now)
    runner = process.starter.flatMap { process.host.processes[$0] }
    stillRunning = [process.pid]
  }

  /// Adds bytes that a process of the tree has written to a stream.
  func recordOutput(_ bytes: [UInt8], on stream: CInt) { output[stream, default: []] += bytes }

  /// Records the exit of the command itself, and how much was written before it.
  func end(_ end: ProcessEnd, at moment: MonotonicTime) {
    ending = (end, moment)
    outputAtExit = output.mapValues(\.count)
  }

  /// Returns why a reported excerpt of a stream's output is wrong, or nil: it must have the bytes that the command
  /// wrote, and not fewer than `kept` if it was truncated.
  func objection(to excerpt: TruncatedOutput, on stream: CInt, kept: Int64) -> String? {
    let all = output[stream] ?? []
    guard let length = Int(exactly: excerpt.length), length <= all.count,
      length >= outputAtExit[stream] ?? 0
    else {
      return "\(excerpt.length) bytes, but it wrote \(outputAtExit[stream] ?? 0) to \(all.count)"
    }
    let stood = all.prefix(length)
    let isWhole = excerpt.first.count + excerpt.last.count == length
    if !isWhole, excerpt.first.count + excerpt.last.count < min(length, Int(kept)) {
      return "\(excerpt.first.count + excerpt.last.count) of \(length) bytes, but \(kept) are stored"
    }
    guard stood.starts(with: excerpt.first), Array(stood.suffix(excerpt.last.count)) == excerpt.last else {
      return "different bytes than it wrote"
    }
    return nil
  }
}

/// The commands of a history, by customer and by process, with the keys of their customers.
struct CommandLedger {
  /// All commands of a customer, oldest first.
  private(set) var trees: [TicketID: [CommandTree]] = [:]
  private var treeByProcess: [pid_t: CommandTree] = [:]
  /// The `BANK_KEY` that the commands of each customer have received.
  private(set) var keys: [TicketID: String] = [:]
  /// The customer who had each key first.
  private(set) var names: [String: TicketID] = [:]
  /// Results in the stored receipts of commands.
  var results: [TicketID: WorkResult] = [:]
  var cancelledAt: [TicketID: MonotonicTime] = [:]

  /// The latest command of a customer; nil if there was none.
  func last(of name: TicketID) -> CommandTree? { trees[name]?.last }
  /// The command to which a running process belongs; nil for none.
  subscript(pid: pid_t) -> CommandTree? { treeByProcess[pid] }
  /// Commands of a customer with a running process.
  func stillRunning(of name: TicketID) -> [CommandTree] {
    (trees[name] ?? []).filter { !$0.stillRunning.isEmpty }
  }
  /// All commands with a running process, in a fixed order.
  var stillRunning: [CommandTree] {
    trees.values.flatMap { $0.filter { !$0.stillRunning.isEmpty } }.sorted { $0.root < $1.root }
  }

  /// Registers a customer's key. Returns the customer's earlier key and the key's earlier customer, each only
  /// if it is a different one.
  mutating func registerKey(_ key: String, of name: TicketID) -> (key: String?, name: TicketID?) {
    let found = (keys[name], names[key])
    (keys[name], names[key]) = (found.0 ?? key, found.1 ?? name)
    return (found.0 == key ? nil : found.0, found.1 == name ? nil : found.1)
  }

  mutating func begin(_ tree: CommandTree) {
    trees[tree.name, default: []].append(tree)
    treeByProcess[tree.root] = tree
  }

  /// Adds a process to the tree of the command to which it belongs.
  mutating func join(_ pid: pid_t, _ tree: CommandTree) {
    tree.stillRunning.insert(pid)
    treeByProcess[pid] = tree
  }

  /// Removes a process that has exited. Returns its tree; nil if it belongs to none.
  mutating func end(_ pid: pid_t) -> CommandTree? {
    guard let tree = treeByProcess.removeValue(forKey: pid) else { return nil }
    tree.stillRunning.remove(pid)
    return tree
  }
}
