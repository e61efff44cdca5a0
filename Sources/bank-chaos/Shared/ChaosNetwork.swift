// Owns a network of a branch's own: a namespace with one end of a cable in it, whose other end is here and can be taken off. What
// a branch sends meanwhile is gone, and it hears nothing, as when somebody trips over the cable.
// Invariant: the namespace is gone when it was removed. Failure: where none may be made there is none, which is an answer.
import Posix

struct ChaosNetwork {
  /// The namespace's name, as `ip netns` knows it.
  let name: String
  /// Where the server is for who is in it, and all addresses of this cable.
  let address: String
  let range: String
  private let cable: String
  private let tool: ChaosTool

  /// Makes one; nil where that is not possible.
  ///
  /// - Parameter place: two numbers, of the run and of the branch, that make it different from others.
  init?(_ place: (run: UInt8, branch: UInt8), _ tool: ChaosTool) {
    guard CurrentProcess.uid == 0 else { return nil }
    self.tool = tool
    name = "bank-chaos-\(CurrentProcess.pid)-\(place.branch)"
    cable = "bc\(CurrentProcess.pid)-\(place.branch)"
    let base = "10.213.\(place.run)"
    let first = Int(place.branch) * 4
    (address, range) = ("\(base).\(first + 1)", "\(base).\(first)/30")
    let steps = [
      ["ip", "netns", "add", name],
      ["ip", "link", "add", cable, "type", "veth", "peer", "name", "bank0", "netns", name],
      ["ip", "addr", "add", "\(address)/30", "dev", cable], ["ip", "link", "set", cable, "up"],
      ["ip", "-n", name, "addr", "add", "\(base).\(first + 2)/30", "dev", "bank0"],
      ["ip", "-n", name, "link", "set", "bank0", "up"], ["ip", "-n", name, "link", "set", "lo", "up"],
    ]
    for step in steps {
      guard tool.run(step).isGood else {
        remove()
        return nil
      }
    }
  }

  /// What stands before a command that is to run in it.
  var words: [String] { ["nsenter", "--net=/run/netns/\(name)", "--"] }

  func cut() -> Bool { tool.run(["ip", "-n", name, "link", "set", "bank0", "down"]).isGood }
  func mend() { _ = tool.run(["ip", "-n", name, "link", "set", "bank0", "up"]) }

  func remove() {
    _ = tool.run(["ip", "link", "del", cable])
    _ = tool.run(["ip", "netns", "del", name])
  }
}
