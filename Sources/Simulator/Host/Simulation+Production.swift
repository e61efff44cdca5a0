// Owns the list of what runs in the simulated world as it runs in production. A test names them, so that nobody copies one of
// them by accident.

import Coordinator
import JuiceStation
import Logbook
import Posix
import StockClient
import StockService
import Teller
import Transport
import VendingClient
import VendingMachine
import Wire

extension Simulation {
  /// What runs on the host as it runs in production. Nothing of it is copied.
  static let productionTypes: [Any.Type] = [
    EventLoop.self, MessageChannel<StockMessage, StockServiceMessage>.self, Listener.self,
    ServiceSocket<StockRequest, StockResult>.self, ServiceSession<StockRequest, StockResult>.self,
    ServiceViews<StockRequest, StockResult>.self, StockService<WatchedStock>.self,
    WindowStaff.self, ControlServer.self, TellerProcess.self, FruitProvider.self, LogFile.self,
    StockDesk<WatchedStock>.self, StockClient.self, VendingService<WatchedVending>.self,
    VendingDesk<WatchedVending>.self, VendingClient.self,
  ]
}
