// Queues for Python that store their jobs in PostgreSQL, as installed from PyPI. The packages use their own schema,
// their default settings, and one or two of their workers. The start of the interpreter is not counted. The time is
// measured by the server's clock, from the first job taken to the last job done.
// Errors: BenchFailure if a queue did not serve all jobs. A package that is not installed is not measured.
#if HAS_POSTGRES
  import Posix

  /// A queue for Python that stores its jobs in PostgreSQL.
  enum PostgresPythonBaseline: String, CaseIterable {
    case pgqueuer, procrastinate

    var name: String {
      switch self {
      case .pgqueuer: "pgqueuer 1.6 of PyPI"
      case .procrastinate: "Procrastinate 3.10 of PyPI"
      }
    }

    /// Target of the speed ratio of the shared database to this queue.
    var goal: Double {
      switch self {
      case .pgqueuer: 15
      case .procrastinate: 300
      }
    }

    /// Path of an interpreter with these packages, set by `scripts/bench`; nil if the script has not found one.
    private static var interpreter: String? {
      Environment.value("BANK_POSTGRES_RIVALS").flatMap { $0.isEmpty ? nil : $0 }
    }

    /// The queues, or none if there is no interpreter for them.
    static var all: [PostgresPythonBaseline] { interpreter == nil ? [] : allCases }

    /// Number of jobs in one measurement.
    private var count: Int {
      switch self {
      case .pgqueuer: 20_000
      case .procrastinate: 2_000
      }
    }

    /// Jobs per second with one or more workers, in a new database.
    func perSecond(_ bench: Bench, _ address: String, workers: Int) throws -> Double {
      guard let interpreter = Self.interpreter, let host = address.split(separator: "=").last else {
        throw BenchFailure("there is no interpreter for \(name)")
      }
      let database = try ScratchDatabase(address, "python")
      let directory = bench.newHome().path
      try Directory.create(path: directory)
      defer { Directory.removeTree(directory) }
      let process = try ChildProcess.spawn(
        executable: interpreter,
        arguments: [
          try bench.file("rival.py", Self.preparation + program), String(host), "\(count)", "\(workers)",
        ],
        environment: ["PATH": Environment.value("PATH") ?? "/usr/bin:/bin", "LANG": "C.UTF-8"],
        standardOutput: .null, standardError: .append(path: Paths.join(directory, "said")),
        workingDirectory: directory)
      let status = process.wait()
      guard status.isSuccess, try database.integer(served) == Int64(count) else {
        let words = (try? FileDescriptor.open(Paths.join(directory, "said"), .readOnly).readAll()) ?? []
        let last = String(decoding: words, as: UTF8.self).split(separator: "\n").last ?? ""
        throw BenchFailure("\(name) has not served every job: \(status) \(last)")
      }
      return Double(count) / (Double(try database.integer(microseconds)) / 1e6)
    }

    /// Query of the number of served jobs, from the tables of the queue.
    private var served: String {
      switch self {
      case .pgqueuer: "SELECT count(*) FROM pgqueuer_log WHERE status = 'successful'"
      case .procrastinate: "SELECT count(*) FROM procrastinate_jobs WHERE status = 'succeeded'"
      }
    }

    /// Query of the time from the first job taken to the last job done, in microseconds.
    private var microseconds: String {
      switch self {
      case .pgqueuer: Self.span("created", "pgqueuer_log WHERE status IN ('picked', 'successful')")
      case .procrastinate: Self.span("at", "procrastinate_events WHERE type IN ('started', 'succeeded')")
      }
    }

    /// Query of the time between the first and the last of these rows, in microseconds.
    private static func span(_ time: String, _ rows: String) -> String {
      "SELECT (extract(epoch FROM max(\(time)) - min(\(time))) * 1000000)::bigint FROM \(rows)"
    }

    /// Common part of both programs: it starts the worker processes together.
    private static let preparation = """
      import asyncio, os, sys
      host, count, processes = sys.argv[1], int(sys.argv[2]), int(sys.argv[3])
      def in_turn(fill, work):
          asyncio.run(fill())
          workers = []
          for _ in range(processes):
              pid = os.fork()
              if pid == 0:
                  asyncio.run(work())
                  os._exit(0)
              workers.append(pid)
          for pid in workers:
              if os.waitpid(pid, 0)[1] != 0:
                  sys.exit(1)

      """

    /// Source of the program that fills the queue and serves its jobs.
    private var program: String {
      switch self {
      case .pgqueuer:
        """
        import asyncpg
        from datetime import timedelta
        from pgqueuer import PgQueuer
        from pgqueuer.db import AsyncpgDriver
        from pgqueuer.queries import Queries
        from pgqueuer.types import QueueExecutionMode
        async def connect():
            return await asyncpg.connect(host=host, user="bank", database="python")
        async def fill():
            connection = await connect()
            queries = Queries(AsyncpgDriver(connection))
            await queries.install()
            for _ in range(count // 1000):
                await queries.enqueue(["serve"] * 1000, [b"{}"] * 1000, [0] * 1000)
            await connection.execute("ANALYZE")
            await connection.close()
        async def work():
            connection = await connect()
            worker = PgQueuer(AsyncpgDriver(connection))
            @worker.entrypoint("serve")
            async def serve(job):
                pass
            await worker.run(mode=QueueExecutionMode.drain, dequeue_timeout=timedelta(seconds=1))
            await connection.close()
        in_turn(fill, work)
        """
      case .procrastinate:
        """
        import procrastinate
        def application():
            app = procrastinate.App(
                connector=procrastinate.PsycopgConnector(conninfo=f"host={host} user=bank dbname=python"))
            @app.task(name="serve")
            async def serve():
                pass
            return app, serve
        async def fill():
            app, serve = application()
            async with app.open_async():
                await app.schema_manager.apply_schema_async()
                for _ in range(count // 1000):
                    await serve.batch_defer_async(*[{} for _ in range(1000)])
                await app.connector.execute_query_async("ANALYZE")
        async def work():
            app, _ = application()
            async with app.open_async():
                await app.run_worker_async(wait=False, install_signal_handlers=False)
        in_turn(fill, work)
        """
      }
    }
  }
#endif
