// Files of a bank: its configuration, and the files of the fruits and the drinks, in the home or beside the
// configuration.
// Invariant: a file that is found is read or refused. Built-in values replace a file that is missing or cannot be
// inspected.

import BankModel
import Posix

/// The configuration file of one bank, and the files of its fruits and drinks.
public struct BankFiles: Sendable, Hashable {
  /// Absolute path of the home.
  public let home: String
  /// Absolute path of the configuration; nil for the built-in one.
  public let configuration: String?

  public init(home: String, configuration: String?) {
    self.home = home
    self.configuration = configuration
  }

  /// The file of fruits and juices; nil for the built-in ones.
  public var assortment: String? { file("stock.json") }
  /// The file of drinks; nil for the built-in ones.
  public var products: String? { file("vending.json") }

  /// Reads the configuration.
  public func readConfiguration() throws(ConfigurationError) -> LoadedConfiguration {
    guard let configuration else { return LoadedConfiguration() }
    return try LoadedConfiguration(path: configuration)
  }

  /// Reads the fruits and juices.
  public func readAssortment() throws(ConfigurationError) -> Assortment {
    guard let assortment else { return .standard }
    return try AssortmentFile.load(path: assortment)
  }

  /// Reads the drinks.
  public func readProducts() throws(ConfigurationError) -> ProductTable {
    guard let products else { return .standard }
    return try ProductFile.load(path: products)
  }

  /// Reads all files.
  public func readAll() throws(ConfigurationError) -> (
    configuration: LoadedConfiguration, assortment: Assortment, products: ProductTable
  ) {
    (try readConfiguration(), try readAssortment(), try readProducts())
  }

  /// Path of a file in the home, or else beside the configuration; nil if both are missing.
  private func file(_ name: String) -> String? {
    let beside = configuration.map { Paths.join(Paths.directory(of: $0), name) }
    return [Paths.join(home, name), beside].compactMap(\.self).first {
      ((try? FileMetadata.inspect($0)) ?? nil) != nil
    }
  }
}
