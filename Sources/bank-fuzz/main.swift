// Entry point of the program that fuzzes a real coordinator, and its output.
// Errors: exit code 1 if the coordinator or the web server was harmed or could not be attacked, 2 for invalid
// arguments.
import Console
import Glibc
import Posix

exit(
  Program.run(tool: FuzzOrder.table) { (invocation, words) throws(CommandError) in
    let order = try FuzzOrder(invocation, words)
    let run = FuzzRun(order)
    _ = try? StandardStreams.write("bank-fuzz: seed \(order.seed)\n", to: .error)
    do {
      let report = order.isWeb ? try WebFuzzRun(order).carryOut() : try run.carryOut()
      _ = try? StandardStreams.write(report + "\n", to: .output)
      return .done
    } catch {
      throw .failed("\(error)\nbank-fuzz: the seed was \(order.seed)\(run.keepEvidence())")
    }
  })
