// Owns the command line of the load driver: which measurements, how thoroughly, and in which form they are printed.
// It must not measure anything itself. People run it through `scripts/bench`, which builds, makes the scratch
// directory, and cleans up after it whatever happens.
// Failure: exit code 1 where something could not be measured at all, 2 for wrong words.

import Glibc
import Posix

ProcessStart.prepare(as: .command)
// A worker of the ping-pong is this same program.
if CommandLine.arguments.dropFirst() == [PingPong.echoWord] { exit(PingPong.echo()) }
if CommandLine.arguments.count == 3, CommandLine.arguments[1] == BeanstalkCrew.workerWord {
  exit((try? BeanstalkCrew.serve(CommandLine.arguments[2])) == nil ? 1 : 0)
}
if CommandLine.arguments.count == 5, CommandLine.arguments[1] == WorkPath.word,
  let work = WorkPath.Work(rawValue: CommandLine.arguments[2]), let count = Int(CommandLine.arguments[3])
{
  do throws(BenchFailure) {
    try WorkPath(in: CommandLine.arguments[4]).perform(work, count)
    exit(0)
  } catch {
    _ = try? StandardStreams.write("bank-bench: \(error)\n", to: .error)
    exit(1)
  }
}

guard let order = BenchOrder(Array(CommandLine.arguments.dropFirst())) else {
  _ = try? StandardStreams.write("bank-bench: run scripts/bench --help\n", to: .error)
  exit(2)
}
do throws(BenchFailure) {
  let report = try order.carryOut()
  let text = order.asJSON ? report.json : report.table
  _ = try? StandardStreams.write(text, to: .output)
} catch {
  _ = try? StandardStreams.write("bank-bench: \(error)\n", to: .error)
  exit(1)
}
