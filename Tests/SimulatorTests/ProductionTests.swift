// Names the production types that run in the simulated world as they are, so that nobody copies one of them by accident.

import Testing

@testable import Simulator

@Suite("What runs in production runs in the simulator")
struct ProductionTests {
  @Test(
    "stock, vending machine and workers, and whoever starts or asks them, are production code from the kernel up"
  )
  func names() {
    let names = Set(Simulation.productionTypes.map { "\($0)".prefix { $0 != "<" } }.map(String.init))
    #expect(
      names == [
        "EventLoop", "MessageChannel", "Listener", "ServiceSocket", "ServiceSession", "ServiceViews",
        "ServiceClient", "StockService", "StockDesk", "VendingService", "VendingDesk", "WindowStaff",
        "ControlServer",
        "TellerProcess", "FruitProvider", "LogFile",
      ])
  }
}
