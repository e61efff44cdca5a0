// Reading a file into a `BankConfiguration` by the table of settings, with the line of each setting in the
// file.
// Invariant: an absent setting keeps its default. A file is accepted completely or not at all.

import Arguments
import BankModel
import Time

/// A configuration as read from a file.
public struct LoadedConfiguration: Sendable, Equatable {
  /// The settings of the file, and defaults for absent ones.
  public private(set) var configuration = BankConfiguration()
  /// The line of each setting that the file sets, from 1.
  private(set) var lines: [String: Int] = [:]

  /// The configuration without a file: the defaults.
  public init() {}

  /// Reads a file. A missing file is ``ConfigurationError/Reason/notFound``.
  public init(path: String) throws(ConfigurationError) {
    try self.init(bytes: try ConfigurationFile.bytes(of: path), path: path)
  }

  /// Parses the bytes of a file; `path` is the file's name for errors.
  public init(bytes: [UInt8], path: String) throws(ConfigurationError) {
    try readMembers(
      try ConfigurationFile.root(of: bytes, path: path), Setting.all, servicesKey: Setting.servicesKey)
    let bank = configuration
    try checkDelays(
      bank.retryInitialDelay, bank.retryMaxDelay, (Setting.retryInitialDelayKey, Setting.retryMaxDelayKey),
      path)
    // A service with only one of the two delays inherits the other delay from the bank, whose settings may be
    // anywhere in the file.
    for service in bank.ownServices + [.run] {
      let (keys, own) = (Setting.delayKeys(of: service), bank[service])
      guard lines[keys.first] ?? lines[keys.limit] != nil else { continue }
      try checkDelays(
        own.retryInitialDelay ?? bank.retryInitialDelay, own.retryMaxDelay ?? bank.retryMaxDelay, keys, path)
    }
  }

  /// Checks that the first retry delay is not above the maximum delay.
  private func checkDelays(
    _ first: TimeSpan, _ limit: TimeSpan, _ keys: (first: String, limit: String), _ path: String
  ) throws(ConfigurationError) {
    guard first > limit else { return }
    let reason = ConfigurationError.Reason.retryOrder(
      first: DurationText.print(first), limit: DurationText.print(limit))
    let line = [keys.first, keys.limit].compactMap { lines[$0] }.max()
    throw ConfigurationError(path: path, key: keys.limit, line: line, reason: reason)
  }

  /// Reads the members of an object and of its nested objects into the properties of these settings.
  /// - Parameter settings: Accepted settings; their keys all start with the key of the object.
  /// - Parameter services: Key of the services, if this object can contain them.
  private mutating func readMembers(
    _ group: ConfigurationReader, _ settings: [Setting], servicesKey services: String? = nil
  ) throws(ConfigurationError) {
    let keyPrefix = group.key.map { $0 + "." } ?? ""
    var names: [String] = []
    for setting in settings {
      let name = String(setting.key.dropFirst(keyPrefix.count).prefix { $0 != "." })
      if !names.contains(name) { names.append(name) }
    }
    try group.members(known: names + (services.map { [$0] } ?? [])) {
      name, value throws(ConfigurationError) in
      let key = keyPrefix + name
      if name == services { return try readServices(value) }
      if key == Setting.storeKey, value.isText || value.isNull { return try readAddress(value) }
      if let setting = settings.first(where: { $0.key == key }) {
        guard lines[key] == nil else { throw value.fail(.duplicateKey) }
        try setting.read(value, into: &configuration)
        lines[key] = value.node.line
      } else {
        try readMembers(value, settings.filter { $0.key.hasPrefix(key + ".") })
      }
    }
  }
}

extension LoadedConfiguration {
  /// Reads the address of a shared database in the short form, in which `store` is an address or null instead
  /// of an object.
  private mutating func readAddress(_ value: ConfigurationReader) throws(ConfigurationError) {
    guard !value.isNull else { return }
    configuration.store.address = try value.address()
    lines[Setting.storeAddressKey] = value.node.line
  }

  /// Reads the object `services`. The windows and the work of a built-in service are at the top level of the file or
  /// in this object.
  private mutating func readServices(_ group: ConfigurationReader) throws(ConfigurationError) {
    var seen: Set<String> = []
    for (text, value) in try group.membersWithAnyKey() {
      guard let name = ServiceName(text) else { throw value.fail(.badServiceName(text)) }
      guard seen.insert(text).inserted else { throw value.fail(.duplicateKey) }
      if ServiceName.branch.contains(name) {
        try readService(value, name)
      } else {
        if name != .run {
          guard configuration.services.count < ServiceDirectory.configurable else {
            throw value.fail(.tooManyServices(ServiceDirectory.configurable))
          }
          configuration.ownServices.append(name)
          configuration.windows[name] = 1
        }
        try readMembers(
          value, Setting.ofService(name).filter { name != .run || $0.kind == nil && $0.kinds.contains(.run) })
        try checkKind(value, name)
        try checkLedger(value, name)
      }
    }
  }

  /// Reads the settings of a built-in service in `services`. A setting that is also at the top level is
  /// refused as a duplicate.
  private mutating func readService(
    _ group: ConfigurationReader, _ name: ServiceName
  ) throws(ConfigurationError) {
    let settings = Setting.ofService(name)
    try group.members(known: [Setting.windowsMember, Setting.workMember]) {
      member, value throws(ConfigurationError) in
      let key = "\(member).\(name)"
      guard lines[key] == nil else { throw value.fail(.duplicateKey) }
      guard let setting = settings.first(where: { $0.key.hasSuffix(".\(member)") }) else { return }
      try setting.read(value, into: &configuration)
      lines[key] = value.node.line
    }
  }

  /// Checks that a service has one kind, and no settings of other kinds. Sets the windows of an outside service to 0.
  private mutating func checkKind(_ group: ConfigurationReader, _ name: ServiceName)
    throws(ConfigurationError)
  {
    let settings = Setting.ofService(name)
    // `"outside": false` does not define a kind.
    if !configuration.isOutside(name) {
      for setting in settings where setting.kind == .outside { lines[setting.key] = nil }
    }
    let given = settings.compactMap { setting in lines[setting.key].map { (setting: setting, line: $0) } }
      .sorted { $0.line < $1.line }
    let kinds = given.compactMap { given in given.setting.kind.map { (kind: $0, line: given.line) } }
    /// Returns the error with this reason, at this key and line. The caller throws it.
    func fail(_ key: String, _ line: Int, _ reason: ConfigurationError.Reason) -> ConfigurationError {
      ConfigurationError(path: group.path, key: key, line: line, reason: reason)
    }
    if kinds.count > 1 {
      let (one, other) = (kinds[0], kinds[1])
      throw fail(
        group.key ?? "", other.line,
        .twoKinds(one.kind.rawValue, one.line, other.kind.rawValue, other.line))
    }
    guard let kind = name == .run ? .run : kinds.first?.kind else { throw group.fail(.noKind) }
    for (setting, line) in given where !setting.kinds.contains(kind) {
      throw fail(setting.key, line, .notOfKind(kind, of: setting.kinds))
    }
    guard kind == .outside else { return }
    let windows = Setting.windowsKey(name)
    if let line = lines[windows], configuration.windows[name] > 0 {
      throw fail(windows, line, .windowsOutside("\(configuration.windows[name])"))
    }
    configuration.windows[name] = 0
  }
}

extension LoadedConfiguration {
  /// Checks that a transfer has two different accounts.
  private func checkLedger(_ group: ConfigurationReader, _ name: ServiceName) throws(ConfigurationError) {
    let (keys, settings) = (Setting.sideKeys(of: name), configuration[name])
    let given = [keys.debit, keys.credit].compactMap { lines[$0] }
    guard let line = given.max(), settings.postingRule == nil else { return }
    let key = "\(Setting.servicesKey).\(name).\(Setting.ledgerMember)"
    let reason: ConfigurationError.Reason
    if let both = settings.debited, given.count == 2 {
      reason = .sameAccount(both.name)
    } else {
      reason = .missing(settings.debited == nil ? "debit" : "credit")
    }
    throw ConfigurationError(path: group.path, key: key, line: line, reason: reason)
  }
}

extension BankConfiguration {
  /// Reads a configuration file. A missing file is ``ConfigurationError/Reason/notFound``.
  public static func load(path: String) throws(ConfigurationError) -> BankConfiguration {
    try LoadedConfiguration(path: path).configuration
  }

  /// Parses a configuration; `path` is the file's name for errors.
  public static func decode(bytes: [UInt8], path: String) throws(ConfigurationError) -> BankConfiguration {
    try LoadedConfiguration(bytes: bytes, path: path).configuration
  }
}
