// Owns the way from a file to a `BankConfiguration`, by the table of settings, and what was read of it: which settings stand
// in the file, and where.
// Invariant: a setting that is absent keeps its default; a file is taken as a whole or not at all.

import Arguments

/// A configuration as a file has it.
public struct ReadConfiguration: Sendable, Equatable {
  /// What the file comes to, with the defaults of what it does not say.
  public private(set) var configuration = BankConfiguration()
  /// The line of each setting that stands in the file, from 1.
  private(set) var lines: [String: Int] = [:]

  /// What a bank goes by without a file: the defaults.
  public init() {}

  /// Reads a file; one that is not there is ``ConfigurationError/Reason/notFound``.
  public init(path: String) throws(ConfigurationError) {
    try self.init(bytes: try ConfigurationFile.bytes(of: path), path: path)
  }

  /// Reads the bytes of a file; `path` is the file's name for errors.
  public init(bytes: [UInt8], path: String) throws(ConfigurationError) {
    try take(try ConfigurationFile.root(of: bytes, path: path), Setting.all)
    guard configuration.retryFirst <= configuration.retryLimit else {
      let line = [Setting.retryFirstKey, Setting.retryLimitKey].compactMap { lines[$0] }.max()
      throw ConfigurationError(
        path: path, key: Setting.retryLimitKey, line: line,
        reason: .retryOrder(
          first: DurationText.print(configuration.retryFirst),
          limit: DurationText.print(configuration.retryLimit)))
    }
  }

  /// Takes the members of an object, and those of the objects in it.
  /// - Parameter settings: Those that can stand there; the keys of all begin with the object's own.
  private mutating func take(
    _ group: ConfigurationReader, _ settings: [Setting]
  ) throws(ConfigurationError) {
    let above = group.key.map { $0 + "." } ?? ""
    var names: [String] = []
    for setting in settings {
      let name = String(setting.key.dropFirst(above.count).prefix { $0 != "." })
      if !names.contains(name) { names.append(name) }
    }
    try group.members(known: names) { name, value throws(ConfigurationError) in
      let key = above + name
      if let setting = settings.first(where: { $0.key == key }) {
        try setting.read(value, into: &configuration)
        lines[key] = value.node.line
      } else {
        try take(value, settings.filter { $0.key.hasPrefix(key + ".") })
      }
    }
  }
}

extension BankConfiguration {
  /// Reads a configuration file; one that is not there is ``ConfigurationError/Reason/notFound``.
  public static func load(path: String) throws(ConfigurationError) -> BankConfiguration {
    try ReadConfiguration(path: path).configuration
  }

  /// Reads a configuration from the bytes of a file; `path` is the file's name for errors.
  public static func decode(bytes: [UInt8], path: String) throws(ConfigurationError) -> BankConfiguration {
    try ReadConfiguration(bytes: bytes, path: path).configuration
  }
}
