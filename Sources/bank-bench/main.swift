// Entry point of the benchmark, of its worker processes, and of the work whose instructions valgrind counts.
// Errors: exit code 1 if a measurement could not be made at all, 2 for invalid arguments.
import Console
import Glibc
import Posix

ProcessStart.prepare(as: .command)
// A worker of the ping-pong is a process of this program.
if CurrentProcess.arguments.dropFirst() == [PingPong.echoWord] { exit(PingPong.echo()) }
if CurrentProcess.arguments.count == 3, CurrentProcess.arguments[1] == BeanstalkCrew.workerWord {
  exit((try? BeanstalkCrew.serve(CurrentProcess.arguments[2])) == nil ? 1 : 0)
}
// The viewers of a page and the reader of a terminal are also processes of this program.
if let companion = CurrentProcess.arguments.dropFirst().first,
  [WebViewers.word, TerminalReader.word].contains(companion)
{
  do {
    let words = Array(CurrentProcess.arguments.dropFirst(2))
    if companion == TerminalReader.word {
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
if CurrentProcess.arguments.count == 5, CurrentProcess.arguments[1] == WorkPath.word,
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
  Program.run(tool: BenchOrder.table) { (invocation, words) throws(CommandError) in
    let order = try BenchOrder(invocation, words)
    do {
      let report = try order.carryOut()
      _ = try? StandardStreams.write(order.asJSON ? report.json : report.table, to: .output)
      return .done
    } catch {
      throw .failed("\(error)")
    }
  })
