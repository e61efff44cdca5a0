// Document of `status --json`, with members by name, as a script reads it.
public struct Status: Sendable {
  public struct Worker: Sendable {
    public let document: JSON
    public var name: String { document["name"].text ?? "" }
    public var role: String { document["role"].text ?? "" }
    public var pid: Int { document["pid"].integer ?? 0 }
    public var state: String { document["state"].text ?? "" }
    public var ticket: Int? { document["ticket"].integer }
    public var generation: Int { document["generation"].integer ?? 0 }
  }

  public let document: JSON

  public init(_ document: JSON) { self.document = document }

  public var state: String { document["bank"]["state"].text ?? "" }
  public var day: Int { document["bank"]["day"].integer ?? 0 }
  public var pid: Int { document["bank"]["pid"].integer ?? 0 }
  public var guardianPid: Int? { document["bank"]["guardian_pid"].integer }
  public var businessMilliseconds: Int { document["bank"]["business_ms"].integer ?? -1 }
  public var workers: [Worker] { document["workers"].items.map(Worker.init) }
  /// Workers at the windows for deposits and loans.
  public var tellers: [Worker] { workers.filter { $0.role == "teller" } }

  /// A number of the object `queue`.
  public func queue(_ name: String) -> Int { document["queue"][name].integer ?? -1 }

  public func service(_ name: String) -> JSON { document["services"].item(where: "name", is: name) }

  public func worker(_ name: String) -> Worker? { workers.first { $0.name == name } }

  /// True if all numbers are present and add up as the contract requires.
  public var isBalanced: Bool {
    let parts = ["waiting", "delayed", "serving", "served", "dead", "cancelled"].map(queue)
    return queue("issued") >= 0 && parts.allSatisfy { $0 >= 0 } && queue("issued") == parts.reduce(0, +)
  }
}
