// Entry point of the benchmark, of its worker processes, and of the work whose instructions valgrind counts.
// Errors: exit code 1 if a measurement could not be made at all, 2 for invalid arguments.
import BankctlCommands
import Glibc
import Posix

ProcessStart.prepare(as: .command)
// A worker of the ping-pong is a process of this program.
if CurrentProcess.arguments.dropFirst() == [PingPong.echoArgument] { exit(PingPong.echo()) }
if CurrentProcess.arguments.count == 3, CurrentProcess.arguments[1] == BeanstalkWorkers.workerArgument {
  exit((try? BeanstalkWorkers.serve(CurrentProcess.arguments[2])) == nil ? 1 : 0)
}
// The viewers of a page and the reader of a terminal are also processes of this program.
if let companion = CurrentProcess.arguments.dropFirst().first,
  [WebViewers.modeArgument, TerminalReader.modeArgument].contains(companion)
{
  do {
    let words = Array(CurrentProcess.arguments.dropFirst(2))
    if companion == TerminalReader.modeArgument {
      try TerminalReader.watch(words)
    } else if words.count == 2, let count = Int(words[1]) {
      try WebViewers.watch(words[0], count: count)
    }
    exit(0)
  } catch {
    _ = try? StandardStreams.write("bank-bench: \(error)\n", to: .error)
    exit(1)
  }
}
if CurrentProcess.arguments.count == 5, CurrentProcess.arguments[1] == WorkPath.modeArgument,
  let work = WorkPath.Work(rawValue: CurrentProcess.arguments[2]),
  let count = Int(CurrentProcess.arguments[3])
{
  do {
    try WorkPath(in: CurrentProcess.arguments[4], for: work).perform(work, count)
    exit(0)
  } catch {
    _ = try? StandardStreams.write("bank-bench: \(error)\n", to: .error)
    exit(1)
  }
}

exit(
  Program.run(tool: BenchOptions.table) { (invocation, words) throws(CommandError) in
    let options = try BenchOptions(invocation, words)
    do {
      let report = try options.run()
      _ = try? StandardStreams.write(options.asJSON ? report.json : report.table, to: .output)
      return .done
    } catch {
      throw .failed("\(error)")
    }
  })
