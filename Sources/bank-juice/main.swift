// Entry point of `bank-juice`, the worker of a juice station, which obtains fruit for each customer.
// Errors: the exit code.

import Glibc
import JuiceStation
import Teller

exit(TellerProgram.run(as: "bank-juice", role: .juice) { FruitProvider(loop: $0) })
