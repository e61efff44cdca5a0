// Throughput of user-defined work in three cases: commands that end at once, a persistent program that receives its
// customers as lines of JSON, and a command line with a client that waits for it. The first two are compared with other
// programs. The bank's receipts are on disk.
// Errors: BenchFailure if a customer has no receipt.
import BankModel
import CommandRunner
import Glibc
import Posix
import Time
import Wire

extension Bench {
  private static let done = ServiceName("true")!, single = ServiceName("single")!,
    python = ServiceName("python")!

  /// Measures the services with a program as their work: commands, a worker in Python, and `bankctl run --wait`.
  func measureWork() throws {
    let interpreter = try? ProgramSearch.find("python3", path: Environment.value("PATH")).get()
    var services = [
      #""true": {"run": ["true"], "windows": 2, "prefetch": 8}"#,
      #""single": {"run": ["true"], "windows": 2}"#,
    ]
    if let interpreter {
      let program = try file("worker.py", Self.worker)
      services.append(#""python": {"worker": ["\#(interpreter)", "\#(program)"], "windows": 1}"#)
    }
    var setting = BankSetting(deposit: 0, loan: 0)
    setting.configuration = try file(
      "work.json", #"{"services": {\#(services.joined(separator: ", "))}, "log": {"customer_events": false}}"#
    )
    let bank = try BenchBank(self, setting)
    try measureCommandServices(at: bank)
    if interpreter != nil {
      try measureWorker(at: bank)
    } else {
      printProgress("there is no python3: a worker in Python is not measured")
    }
    try measureCommandLine(at: bank)
    try bank.discard()
  }

  /// Measures commands that end at once, against other programs that run commands.
  private func measureCommandServices(at bank: BenchBank) throws {
    // task-spooler accepts a limited number of waiting clients.
    let count = scale.served / 400
    let loop = Baseline(name: "a loop that starts two", target: .atLeast(0.85)) { try self.startsPerSecond() }
    try compareWithBaselines(
      "work", "commands served durably, 2 windows, prefetch 8",
      against: [loop] + CommandBaseline.serving(self, count)
    ) { try served(count, Self.done, at: bank) }
    try compareWithBaselines("work", "commands served durably, 2 windows, prefetch 1", against: []) {
      try served(count, Self.single, at: bank)
    }
    try compareWithBaselines(
      "work", "commands queued and served durably, 2 windows", against: CommandBaseline.queueing(self, count)
    ) {
      let figure = try Self.perSecond(count) {
        try bank.enqueue(count, Self.done)
        try bank.ask(.awaitIdle)
      }
      try requireServed(Self.done, at: bank)
      return figure
    }
  }

  /// Measures a worker in Python against queues for Python.
  private func measureWorker(at bank: BenchBank) throws {
    try compareWithBaselines(
      "work", "a worker in Python, prefetch 16", target: .atLeast(20_000), against: PythonBaseline.all(self)
    ) { try served(scale.served / 5, Self.python, at: bank) }
  }

  /// Measures the time of `bankctl run --wait`.
  private func measureCommandLine(at bank: BenchBank) throws {
    // The first command makes the bank open the windows for command lines.
    _ = try command(["run", "--wait", "--", "true"], at: bank.home)
    var figures: [Double] = []
    for _ in 0..<20 * scale.rounds {
      figures.append(try command(["run", "--wait", "--", "true"], at: bank.home).inMilliseconds)
    }
    add("work", "bankctl run --wait true", "ms", Samples(figures), target: .below(15))
  }

  /// Rate at which a service serves customers that were all enqueued before.
  private func served(_ count: Int64, _ service: ServiceName, at bank: BenchBank) throws -> Double {
    try bank.ask(.pause(service))
    try bank.enqueue(count, service)
    let figure = try Self.perSecond(count) {
      try bank.ask(.resume(service))
      try bank.ask(.awaitIdle)
    }
    try requireServed(service, at: bank)
    return figure
  }

  /// Throws an error if a customer is left without a receipt.
  private func requireServed(_ service: ServiceName, at bank: BenchBank) throws {
    let status = try bank.status()
    guard status.queue.dead == 0, status.queue.waiting == 0 else {
      throw BenchFailure("not every customer of \(service) has a receipt")
    }
  }

  /// Rate at which this process can start and reap processes that end at once, two at a time, without any other work.
  private func startsPerSecond() throws -> Double {
    var count = 0
    let program = try ProgramSearch.find("true", path: Environment.value("PATH")).get()
    return try program.withCString { path in
      var words: [UnsafeMutablePointer<CChar>?] = [strdup(path), nil]
      defer { free(words[0]) }
      var nothing: [UnsafeMutablePointer<CChar>?] = [nil]
      /// Starts one process.
      func start() throws {
        var pid = pid_t()
        let code = posix_spawn(&pid, path, nil, nil, &words, &nothing)
        guard code == 0 else { throw SystemError(call: "posix_spawn", subject: program, code: code) }
        running.insert(pid)
      }
      var running: Set<pid_t> = []
      let figure = try perSecond({ count }) { _ in
        while running.count < 2 { try start() }
        // Waits for any child. The coordinator is also a child, but it exits only when its bank is closed.
        guard running.remove(waitpid(-1, nil, 0)) != nil else { return }
        count += 1
      }
      for pid in running { waitpid(pid, nil, 0) }
      return figure
    }
  }

  /// Source of a worker that does no work and uses only the standard library.
  private static let worker = """
    import json, socket
    bank = socket.socket(fileno=3)
    heard = bank.makefile("r", encoding="utf-8", newline="\\n")
    said = bank.makefile("w", encoding="utf-8", newline="\\n")
    def say(kind, what):
        said.write(json.dumps({kind: what}) + "\\n")
        said.flush()
    say("hello", {"version": 1, "role": "worker", "in_hand": 16})
    for line in heard:
        [(kind, what)] = json.loads(line).items()
        if kind == "welcome":
            say("ready", {})
        elif kind == "assign":
            say("done", {name: what[name] for name in ("ticket", "attempt", "generation")})
        elif kind == "close":
            break
    """
}
