// Time that a branch is without its database when the server is lost and its synchronous standby is promoted: from
// the promotion request to the first receipt in the promoted server. The benchmark also counts receipts that were
// reported before the loss and are missing after it. A script creates the servers.
// Errors: BenchFailure. If no environment variable names the script, nothing is measured.
#if HAS_POSTGRES
  import ControlClient
  import Glibc
  import Posix
  import Time
  import Wire

  extension Bench {
    /// Measures the time from the promotion of a standby, after the first PostgreSQL server is lost, to the bank's next
    /// receipt. Each round has two new servers.
    func measurePromotion(_ address: String) throws {
      guard let script = Environment.value("BANK_BENCH_SERVERS"), !script.isEmpty else { return }
      var figures: [Double] = []
      var missing: [Double] = []
      for round in 0..<min(scale.rounds, 3) {
        let directories = ["first", "second"].map { Paths.join(scratch, "\($0)-\(round)") }
        defer { for directory in directories { _ = try? run(script, ["remove", directory]) } }
        try run(script, ["start", directories[0]])
        try run(script, ["standby", directories[1], directories[0]])
        let result = try promote(directories)
        figures.append(result.milliseconds)
        missing.append(Double(result.missing))
      }
      add(
        "postgres", "standby promoted: its first receipt", "ms", Samples(figures), target: .below(500))
      add(
        "postgres", "  acknowledged receipts that are missing", "", Samples(missing),
        target: .below(1))
    }

    /// Ends the first server, promotes the second one, and counts the missing receipts.
    private func promote(_ directories: [String]) throws -> (milliseconds: Double, missing: Int64) {
      let first = try ScratchDatabase(at: "postgres://bank@/bank?host=\(directories[0])")
      try first.rows("ALTER SYSTEM SET synchronous_standby_names = '*'")
      try first.rows("SELECT pg_reload_conf()")
      let store = "postgres://bank@/bank?host=\(directories.joined(separator: ","))"
      let bank = try BenchBank(self, BankSetting(store: store))
      let eventConnection = try bank.connect()
      _ = try eventConnection.send(.follow)
      try bank.ask(.pause(nil))
      try bank.enqueue(scale.served * 3)
      try bank.ask(.resume(nil))
      var told: Int64 = 0
      /// Counts the completions that are reported until the given time.
      func pollResponses(until end: MonotonicTime) throws {
        while let reply = try eventConnection.next(until: end) {
          if case .event(let event) = reply.answer, event.phase == .completed { told += 1 }
        }
      }
      while told < scale.served / 20 { try pollResponses(until: SystemClock.monotonic() + .milliseconds(20)) }
      kill(try postmaster(in: directories[0]), SIGQUIT)
      let end = SystemClock.wall().milliseconds
      // Receipts that the branch received before the loss may still be reported.
      try pollResponses(until: SystemClock.monotonic() + .milliseconds(300))
      let standby = try postmaster(in: directories[1])
      let begin = SystemClock.monotonic()
      // Promotes the standby with the file and the signal that pg_ctl uses.
      try FileDescriptor.open(Paths.join(directories[1], "data/promote"), [.writeOnly, .create]).close()
      kill(standby, SIGUSR1)
      try awaitEvent(.completed, on: eventConnection)
      let span = SystemClock.monotonic().since(begin).inMilliseconds
      bank.kill()
      Directory.removeTree(bank.home.path)
      let second = try ScratchDatabase(at: "postgres://bank@/bank?host=\(directories[1])")
      // The receipt of a customer that was served again has a later time.
      let kept = try second.integer("SELECT count(*) FROM bank.receipt WHERE finished_ms <= \(end + 1)")
      return (span, max(0, told - kept))
    }

    /// Pid of the server's main process.
    private func postmaster(in directory: String) throws -> pid_t {
      let text = try FileDescriptor.open(Paths.join(directory, "data/postmaster.pid"), .readOnly).readAll()
      let first = String(decoding: text, as: UTF8.self).split(separator: "\n").first
      guard let pid = first.flatMap({ pid_t($0) }), pid > 1 else {
        throw BenchFailure("no server runs in \(directory)")
      }
      return pid
    }

    /// Runs a program, and waits until it has succeeded.
    @discardableResult
    private func run(_ program: String, _ arguments: [String]) throws -> Int32 {
      let process = try ChildProcess.spawn(
        executable: program, arguments: arguments,
        environment: ["PATH": Environment.value("PATH") ?? "/usr/bin:/bin", "LC_ALL": "C"],
        standardOutput: .null, standardError: .null)
      let status = process.wait()
      guard status.isSuccess else {
        throw BenchFailure("\(program) \(arguments.joined(separator: " ")): \(status)")
      }
      return 0
    }
  }
#endif
