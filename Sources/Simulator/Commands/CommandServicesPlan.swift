// Services of a history whose work is done by commands: their windows, time limits, and the stored part of their
// output.
// Invariant: the plan draws from a generator of its own, so that histories without commands do not change.
import BankModel
import CommandRunner
import QueueCore
import Time

/// What one history has of services with commands, drawn from the seed.
struct CommandServicesPlan {
  /// Service whose commands have a timeout.
  static let timed = ServiceName("mill")!
  /// Service whose commands have no timeout, and some of whose exit codes have a configured meaning.
  static let patient = ServiceName("press")!
  static let services = [timed, patient]
  /// Services that get numbers in a history with commands. Those of `ExternalWorkerPlan` come first, but have neither
  /// customers nor windows here.
  static let numbered = ExternalWorkerPlan.services + services
  /// Indices of the services with commands.
  static let indices =
    ServiceName.branch.count + ExternalWorkerPlan.services.count..<ServiceName.branch.count + numbered.count
  /// Path of the commands' program.
  static let program = "/bank/bin/tool"
  /// Time that a runner may take beyond its command, as set by the coordinator.
  static let runnerTimeout = TimeSpan.seconds(30)

  let isEnabled: Bool
  /// Number of windows of each service.
  let windows: [Int64]
  /// Timeout of the commands of `timed`, and the grace between SIGTERM and SIGKILL.
  let timeout: TimeSpan
  let grace: TimeSpan
  /// Number of customers that a runner of `patient` may hold.
  let prefetch: Int64
  /// Maximum bytes of a result in the database, and of the output that is kept in a file.
  let resultBytes: Int64
  let outputBytes: Int64
  /// Number that identifies the bank's database. The keys of customers are made from it.
  let databaseNumber: Int64

  init(seed: UInt64, besides stock: StockPlan, _ externalWorkers: ExternalWorkerPlan) {
    var chance = SeededGenerator(seed: seed ^ 0x223B_0000)
    // Commands need a bank with an identity, but the checks of the stock expect the order IDs of a bank without one.
    isEnabled = chance.draw(0...1) == 0 && !stock.isEnabled && !externalWorkers.isEnabled
    windows = [chance.draw(1...3), chance.draw(1...2)]
    timeout = .milliseconds(chance.draw(80...1_500))
    grace = .milliseconds(chance.draw(10...400))
    prefetch = chance.draw(1...3)
    resultBytes = [0, 40, 700, 64 << 10][Int(chance.draw(0...3))]
    outputBytes = [0, 300, 1 << 20][Int(chance.draw(0...2))]
    databaseNumber = chance.draw(1...Int64.max)
  }

  /// Sets the queue's rules for these services as the coordinator derives them from the settings.
  func adapt(_ policy: inout QueuePolicy) {
    guard isEnabled else { return }
    for (service, index) in zip(Self.services, Self.indices) {
      var rules = policy.common
      rules.awaitsProcessExit = true
      rules.recall = grace + Self.runnerTimeout
      rules.timeout = service == Self.timed ? timeout + grace + Self.runnerTimeout : nil
      rules.prefetch = service == Self.timed ? 1 : Int(prefetch)
      policy.set(rules, for: Service(index: index))
    }
  }

  /// Settings of these services, as JSON; an empty object if there are none.
  var settings: String {
    guard isEnabled else { return "{}" }
    let common = """
      "grace": "\(grace.milliseconds)ms", "max_result_bytes": \(resultBytes), "limits": {"output_bytes": \(outputBytes)}
      """
    return """
      {"\(Self.timed)": {"run": ["\(Self.program)", "{key}"], "windows": \(windows[0]),
         "timeout": "\(timeout.milliseconds)ms", \(common)},
       "\(Self.patient)": {"run": ["\(Self.program)"], "windows": \(windows[1]), "prefetch": \(prefetch),
         "exit": {"3": "served", "4": "later", "5": "dead", "6": "crash"}, \(common)}}
      """
  }

  /// What the exit of a command means for its customer, by the table of the service.
  func verdict(of service: ServiceName, _ ending: ProcessEnd) -> CommandVerdict {
    switch ending {
    case .signal: .crash
    case .code(0): .served
    case .code(75): .later
    case .code(64), .code(65): .dead
    case .code(126), .code(127): .pause
    case .code(3) where service == Self.patient: .served
    case .code(4) where service == Self.patient: .later
    case .code(5) where service == Self.patient: .dead
    case .code(6) where service == Self.patient: .crash
    case .code: .failed
    }
  }
}

extension Service {
  /// True if commands serve this service, in a history with commands.
  var isForCommands: Bool { CommandServicesPlan.indices.contains(index) }
}

/// Behaviour of one command, drawn when it starts.
struct CommandScript {
  /// How the command ends by itself.
  enum Ending {
    case code(Int32)
    case signal(Int32)
    /// The command runs until it is killed.
    case never
  }

  /// A process that the command starts, and that may outlive it.
  struct Child {
    /// Time from the start of the command to that of the process.
    var begins: TimeSpan
    /// Time from the start of the process to its exit.
    var lives: TimeSpan
    var ignoresTerm: Bool
    /// True if the process gets a process group of its own.
    var leavesGroup: Bool
    /// True if the process inherits the pipes and writes to them.
    var speaks: Bool
    /// True if the process starts another one before it exits.
    var hasChild: Bool
  }

  var readsInput: Bool
  /// Bytes of standard output and of standard error.
  var output: Int
  var errors: Int
  var duration: TimeSpan
  var ending: Ending
  /// Reaction to SIGTERM: the command ignores it, or exits with `exitCodeAtTerm`. Without either, the signal kills the
  /// command.
  var ignoresTerm: Bool
  var exitCodeAtTerm: Int32?
  var children: [Child]

  /// Draws a command. Without faults it ends by itself, and does not pause its service.
  init(_ chance: inout SeededGenerator, isTimed: Bool, timeout: TimeSpan, isFaultFree: Bool) {
    readsInput = chance.draw(0...7) > 0
    output = Int(
      [0, chance.draw(1...60), chance.draw(1...60), chance.draw(500...9_000)][Int(chance.draw(0...3))])
    errors = chance.draw(0...4) == 0 ? Int(chance.draw(1...2_500)) : 0
    let longest = chance.draw(0...4) == 0 ? 2 * timeout.milliseconds : 60
    duration = .microseconds(chance.draw(200...max(1_000, longest * 1_000)))
    if !isTimed { duration = min(duration, .milliseconds(500)) }
    let drawn = chance.draw(0...99)
    switch drawn {
    case 0..<58: ending = .code(0)
    case 58..<64: ending = .code(75)
    case 64..<67: ending = .code(drawn == 64 ? 64 : 65)
    case 67..<71: ending = isFaultFree ? .code(0) : .code(drawn < 69 ? 126 : 127)
    case 71..<79: ending = .code(Int32(chance.draw(1...2)))
    case 79..<87: ending = .code(Int32(chance.draw(3...6)))
    case 87..<94: ending = .signal([11, 6, 9][Int(chance.draw(0...2))])
    default: ending = .code(0)
    }
    if !isFaultFree, chance.draw(0...4) == 0 { ending = .never }
    ignoresTerm = chance.draw(0...3) == 0
    exitCodeAtTerm = chance.draw(0...2) == 0 ? Int32(chance.draw(0...1) * 75) : nil
    children = []
    guard chance.draw(0...2) == 0 else { return }
    for _ in 0..<chance.draw(1...3) {
      let begins = TimeSpan.microseconds(chance.draw(0...max(1, duration.nanoseconds / 1_000)))
      children.append(
        Child(
          begins: begins, lives: .milliseconds(chance.draw(1...(chance.draw(0...1) == 0 ? 150 : 60_000))),
          ignoresTerm: chance.draw(0...1) == 0, leavesGroup: chance.draw(0...1) == 0,
          speaks: chance.draw(0...1) == 0, hasChild: chance.draw(0...2) == 0))
    }
  }
}
