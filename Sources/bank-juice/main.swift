// Owns nothing but the start of the executable of a juice station: a worker that gets fruit for each customer.
// It must not decide anything. Whatever fails comes back as the code to exit with.

import Glibc
import JuiceStation
import Teller

exit(TellerProgram.run(as: "bank-juice", role: .juice) { FruitProvider(loop: $0) })
