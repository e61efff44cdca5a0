// A network of one branch: a network namespace with one end of a veth pair, whose other end is in the namespace of this
// process. Taking the link down drops all packets in both directions, like an unplugged cable.
// Invariant: the namespace is gone after `remove()`.
// Errors: the initializer returns nil if the network cannot be made.
import Posix

struct ChaosNetwork {
  /// The namespace's name, as `ip netns` shows it.
  let name: String
  /// Address of the server for a client inside the namespace, and the range of both addresses of the veth pair.
  let address: String
  let range: String
  /// Name of this process's end of the veth pair.
  private let link: String
  private let tool: ChaosTool

  /// Makes a network; nil if that is not possible.
  ///
  /// - Parameter place: numbers of the run and of the branch, from which the addresses are made.
  init?(_ place: (run: UInt8, branch: UInt8), _ tool: ChaosTool) {
    guard CurrentProcess.uid == 0 else { return nil }
    self.tool = tool
    name = "bank-chaos-\(CurrentProcess.pid)-\(place.branch)"
    link = "bc\(CurrentProcess.pid)-\(place.branch)"
    let base = "10.213.\(place.run)"
    let first = Int(place.branch) * 4
    (address, range) = ("\(base).\(first + 1)", "\(base).\(first)/30")
    let steps = [
      ["ip", "netns", "add", name],
      ["ip", "link", "add", link, "type", "veth", "peer", "name", "bank0", "netns", name],
      ["ip", "addr", "add", "\(address)/30", "dev", link], ["ip", "link", "set", link, "up"],
      ["ip", "-n", name, "addr", "add", "\(base).\(first + 2)/30", "dev", "bank0"],
      ["ip", "-n", name, "link", "set", "bank0", "up"], ["ip", "-n", name, "link", "set", "lo", "up"],
    ]
    for step in steps {
      guard tool.run(step).hasSucceeded else {
        remove()
        return nil
      }
    }
  }

  /// Prefix of a command that is to run in the namespace.
  var commandPrefix: [String] { ["nsenter", "--net=/run/netns/\(name)", "--"] }

  /// Takes the link down. Returns false if that fails.
  func cut() -> Bool { tool.run(["ip", "-n", name, "link", "set", "bank0", "down"]).hasSucceeded }
  /// Takes the link up again.
  func reconnect() { _ = tool.run(["ip", "-n", name, "link", "set", "bank0", "up"]) }

  /// Deletes the veth pair and the namespace.
  func remove() {
    _ = tool.run(["ip", "link", "del", link])
    _ = tool.run(["ip", "netns", "del", name])
  }
}
