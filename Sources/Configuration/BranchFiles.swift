// Owns which files a bank goes by: its configuration, and those of the fruits and of the drinks, which are the home's own or
// lie beside the configuration. Whoever opens a bank, reads its files again or only checks them finds them here.
// Invariant: a file that is found is read or refused; what is built in stands only for one that is not.

import BankModel
import Posix

/// The files of one bank.
public struct BranchFiles: Sendable, Hashable {
  /// The bank's home, absolute.
  public let home: String
  /// The configuration, absolute; nil for the built-in one.
  public let configuration: String?

  public init(home: String, configuration: String?) {
    self.home = home
    self.configuration = configuration
  }

  /// The file of fruits and juices; nil for the built-in ones.
  public var assortment: String? { file("stock.json") }
  /// The file of drinks; nil for the built-in ones.
  public var products: String? { file("vending.json") }

  /// The configuration as its file has it now.
  public func readConfiguration() throws(ConfigurationError) -> ReadConfiguration {
    guard let configuration else { return ReadConfiguration() }
    return try ReadConfiguration(path: configuration)
  }

  /// The fruits and juices as their file has them now.
  public func readAssortment() throws(ConfigurationError) -> Assortment {
    guard let assortment else { return .standard }
    return try AssortmentFile.load(path: assortment)
  }

  /// The drinks as their file has them now.
  public func readProducts() throws(ConfigurationError) -> ProductTable {
    guard let products else { return .standard }
    return try ProductFile.load(path: products)
  }

  /// All of them: what a bank takes when it reads its files again, or refuses as a whole.
  public func readAll() throws(ConfigurationError) -> (
    configuration: ReadConfiguration, assortment: Assortment, products: ProductTable
  ) {
    (try readConfiguration(), try readAssortment(), try readProducts())
  }

  private func file(_ name: String) -> String? {
    let beside = configuration.map { Paths.join(Paths.directory(of: $0), name) }
    return [Paths.join(home, name), beside].compactMap(\.self).first {
      ((try? FileFacts.inspect($0)) ?? nil) != nil
    }
  }
}
