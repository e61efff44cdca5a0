// What `status --json` says, by name. It is read as a script would read it and keeps the whole document.
struct Status {
  struct Worker {
    let document: JSON
    var name: String { document["name"].text ?? "" }
    var role: String { document["role"].text ?? "" }
    var pid: Int { document["pid"].integer ?? 0 }
    var state: String { document["state"].text ?? "" }
    var ticket: Int? { document["ticket"].integer }
    var generation: Int { document["generation"].integer ?? 0 }
  }

  let document: JSON

  init(_ document: JSON) { self.document = document }

  var state: String { document["bank"]["state"].text ?? "" }
  var day: Int { document["bank"]["day"].integer ?? 0 }
  var pid: Int { document["bank"]["pid"].integer ?? 0 }
  var guardianPid: Int? { document["bank"]["guardian_pid"].integer }
  var businessMilliseconds: Int { document["bank"]["business_ms"].integer ?? -1 }
  var workers: [Worker] { document["workers"].items.map(Worker.init) }
  /// The workers at the windows for deposits and loans.
  var tellers: [Worker] { workers.filter { $0.role == "teller" } }

  /// A number under `queue`.
  func queue(_ name: String) -> Int { document["queue"][name].integer ?? -1 }

  /// The object of a service.
  func service(_ name: String) -> JSON { document["services"].item(where: "name", is: name) }

  func worker(_ name: String) -> Worker? { workers.first { $0.name == name } }

  /// Whether every number is there and they add up as the contract says.
  var isBalanced: Bool {
    let parts = ["waiting", "delayed", "serving", "served", "dead", "cancelled"].map(queue)
    return queue("issued") >= 0 && parts.allSatisfy { $0 >= 0 } && queue("issued") == parts.reduce(0, +)
  }
}
