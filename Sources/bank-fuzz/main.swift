// Entry point of `bank-fuzz`, which attacks a real coordinator or web server. Prints the seed, the report and the
// error.
// Errors: exit code 1 if the coordinator or the web server was harmed or could not be attacked, 2 for invalid
// arguments.
import BankctlCommands
import Glibc
import Posix

exit(
  Program.run(tool: FuzzOptions.table) { (invocation, words) throws(CommandError) in
    let options = try FuzzOptions(invocation, words)
    let run = FuzzRun(options)
    _ = try? StandardStreams.write("bank-fuzz: seed \(options.seed)\n", to: .error)
    do {
      let report = options.isWeb ? try WebFuzzRun(options).run() : try run.run()
      _ = try? StandardStreams.write(report + "\n", to: .output)
      return .done
    } catch {
      throw .failed("\(error)\nbank-fuzz: the seed was \(options.seed)\(run.saveEvidence())")
    }
  })
