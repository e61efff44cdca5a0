// The kinds of processes that a chaos run kills: those of the command line that the open bank has.
// Errors: CommandError for an unknown name, and if no kind is left.
import BankModel
import BankctlCommands
import Wire

extension ChaosProgram {
  /// Parses the list of `--targets`.
  static func targets(_ list: String, _ messages: MessageCatalog) throws(CommandError) -> [ChaosTarget] {
    var chosen: [ChaosTarget] = []
    for name in list.split(separator: ",", omittingEmptySubsequences: false) {
      let target = ChaosTarget.allCases.first { name == $0.rawValue || name == $0.rawValue + "s" }
      guard let target else { throw .usage(messages.unknownTarget(String(name))) }
      if !chosen.contains(target) { chosen.append(target) }
    }
    return chosen
  }

  /// Returns the targets that the open bank has: a web server if there is a page, and the processes at open windows.
  /// Throws if none is left.
  static func existing(
    _ targets: [ChaosTarget], hasPage: Bool, _ session: Session
  ) throws(CommandError) -> [ChaosTarget] {
    let services = try CoordinatorClient.reopen(session).status(.status).services
    func hasWindows(_ names: [ServiceName]) -> Bool {
      services.contains { names.contains($0.service) && $0.windows > 0 }
    }
    let left = targets.filter {
      switch $0 {
      case .web: hasPage
      case .teller: hasWindows([.deposit, .loan])
      case .juice: hasWindows([.juice])
      default: true
      }
    }
    guard left.isEmpty else { return left }
    guard !targets.contains(.web) else {
      throw .commandFailure(.webMissing, session.messages.chaosHasNoPage)
    }
    throw .usage(session.messages.chaosHasNoWindow)
  }
}
