// Owns the start of the program that fuzzes a real coordinator through its real socket, and its exit code.
// It must not know what an attack is. People run it through `scripts/fuzz --socket`, which builds, makes the scratch
// directory, and cleans up after it whatever happens.
// Failure: exit code 1 where the coordinator was harmed or could not be attacked, 2 for wrong words.

import Glibc
import Posix

ProcessStart.prepare(as: .command)
let order: FuzzOrder
do throws(FuzzOrder.Misuse) {
  order = try FuzzOrder(Array(CommandLine.arguments.dropFirst()))
} catch {
  _ = try? StandardStreams.write("bank-fuzz: \(error.words)\n", to: .error)
  exit(2)
}
let run = FuzzRun(order)
do throws(FuzzFailure) {
  _ = try? StandardStreams.write("bank-fuzz: seed \(order.seed)\n", to: .error)
  let report = try run.carryOut()
  _ = try? StandardStreams.write(report + "\n", to: .output)
} catch {
  let words = "bank-fuzz: \(error)\nbank-fuzz: the seed was \(order.seed)\n" + run.keepEvidence()
  _ = try? StandardStreams.write(words, to: .error)
  exit(1)
}
