// Entry point of `bank-juice`, the juice station: a worker that takes fruit from the stock.
// Exits with the code of `TellerProgram`.

import Glibc
import JuiceStation
import Teller

exit(TellerProgram.run(as: "bank-juice", role: .juice) { FruitProvider(loop: $0) })
