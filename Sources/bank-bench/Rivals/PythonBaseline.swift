// Queues for Python that store their tasks and completions on disk, as baselines for a worker in Python.
// Invariant: a task does no work, the tasks are queued before the measurement, and one worker serves them. The time
// runs from the first task to the last, without the interpreter's start.
// Errors: BenchFailure if a queue did not serve all tasks. A queue that is not installed is not measured.
import Posix

/// A queue for Python that stores its tasks in SQLite.
enum PythonBaseline: String, CaseIterable {
  case huey = "Huey, SQLite with fsync"
  case celery = "Celery, SQLite"

  /// Target of the speed ratio of the bank to this queue.
  private var target: Target {
    switch self {
    case .huey: .atLeast(5)
    case .celery: .atLeast(10)
    }
  }

  /// Path of an interpreter with these packages, set by `scripts/bench`; nil if the script has not found one.
  private static var interpreter: String? {
    Environment.value("BANK_PYTHON_RIVALS").flatMap { $0.isEmpty ? nil : $0 }
  }

  /// The queues as baselines of the bank, or none if there is no interpreter for them.
  static func all(_ bench: Bench) -> [Baseline] {
    guard let interpreter else { return [] }
    return allCases.map { kind in
      Baseline(name: kind.rawValue, target: kind.target) { try kind.perSecond(bench, interpreter) }
    }
  }

  /// Number of tasks in one measurement.
  private var count: Int {
    switch self {
    case .huey: 1_000
    case .celery: 300
    }
  }

  /// Tasks per second with one worker.
  private func perSecond(_ bench: Bench, _ interpreter: String) throws -> Double {
    let directory = bench.newHome().path
    try Directory.create(path: directory)
    defer { Directory.removeTree(directory) }
    let program = try bench.file("rival.py", program)
    let said = Paths.join(directory, "said")
    let process = try ChildProcess.spawn(
      executable: interpreter, arguments: [program, directory, "\(count)"],
      environment: ["PATH": Environment.value("PATH") ?? "/usr/bin:/bin", "LANG": "C.UTF-8"],
      standardOutput: .append(path: said), standardError: .null, workingDirectory: directory)
    let status = process.wait()
    let words = String(decoding: try FileDescriptor.open(said, .readOnly).readAll(), as: UTF8.self)
    guard status.isSuccess, let seconds = Double(words.split(separator: "\n").last ?? ""), seconds > 0 else {
      throw BenchFailure("\(rawValue) has not served every job: \(status)")
    }
    return Double(count) / seconds
  }

  /// Source of the program that fills the queue, serves its tasks and prints the seconds.
  private var program: String {
    switch self {
    case .huey:
      """
      import sys, time
      from huey import SqliteHuey
      huey = SqliteHuey(filename=sys.argv[1] + "/huey.db", fsync=True, strict_fifo=True)
      @huey.task()
      def serve():
          return 1
      count = int(sys.argv[2])
      for _ in range(count):
          serve()
      begin = time.monotonic()
      # What its consumer's worker does, without its threads and its pauses.
      for _ in range(count):
          huey.execute(huey.dequeue())
      seconds = time.monotonic() - begin
      if len(huey) != 0 or huey.result_count() != count:
          sys.exit(1)
      print(seconds)
      """
    case .celery:
      """
      import os, sys, time
      from celery import Celery
      from celery.signals import task_postrun, task_prerun
      place, count = sys.argv[1], int(sys.argv[2])
      app = Celery("rival", broker=f"sqla+sqlite:///{place}/broker.db", backend=f"db+sqlite:///{place}/results.db")
      app.conf.update(task_acks_late=True, worker_redirect_stdouts=False)
      @app.task(name="serve")
      def serve():
          return 1
      for _ in range(count):
          serve.apply_async()
      times = []
      @task_prerun.connect
      def began(**_):
          if not times:
              times.append(time.monotonic())
      @task_postrun.connect
      def ended(**_):
          times.append(time.monotonic())
          if len(times) == count + 1:
              print(times[-1] - times[0], flush=True)
              os._exit(0)
      app.worker_main(["worker", "--pool=solo", "--without-gossip", "--without-mingle", "--without-heartbeat", "-l", "ERROR"])
      """
    }
  }
}
