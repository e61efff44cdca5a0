// Owns the way from a file to a `BankConfiguration`, by the table of settings, and what was read of it: which settings stand
// in the file, and where.
// Invariant: a setting that is absent keeps its default; a file is taken as a whole or not at all.

import Arguments
import BankModel
import Time

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
    try take(try ConfigurationFile.root(of: bytes, path: path), Setting.all, beside: Setting.servicesKey)
    let bank = configuration
    try checkPauses(bank.retryFirst, bank.retryLimit, (Setting.retryFirstKey, Setting.retryLimitKey), path)
    // A service that says one of the two goes by the bank's other, wherever that stands in the file.
    for service in bank.ownServices + [.run] {
      let (keys, own) = (Setting.pauseKeys(of: service), bank[service])
      guard lines[keys.first] ?? lines[keys.limit] != nil else { continue }
      try checkPauses(own.retryFirst ?? bank.retryFirst, own.retryLimit ?? bank.retryLimit, keys, path)
    }
  }

  private func checkPauses(
    _ first: TimeSpan, _ limit: TimeSpan, _ keys: (first: String, limit: String), _ path: String
  ) throws(ConfigurationError) {
    guard first > limit else { return }
    let reason = ConfigurationError.Reason.retryOrder(
      first: DurationText.print(first), limit: DurationText.print(limit))
    let line = [keys.first, keys.limit].compactMap { lines[$0] }.max()
    throw ConfigurationError(path: path, key: keys.limit, line: line, reason: reason)
  }

  /// Takes the members of an object, and those of the objects in it.
  /// - Parameter settings: Those that can stand there; the keys of all begin with the object's own.
  /// - Parameter services: The key under which services stand, where they can stand in this object.
  private mutating func take(
    _ group: ConfigurationReader, _ settings: [Setting], beside services: String? = nil
  ) throws(ConfigurationError) {
    let above = group.key.map { $0 + "." } ?? ""
    var names: [String] = []
    for setting in settings {
      let name = String(setting.key.dropFirst(above.count).prefix { $0 != "." })
      if !names.contains(name) { names.append(name) }
    }
    try group.members(known: names + (services.map { [$0] } ?? [])) {
      name, value throws(ConfigurationError) in
      let key = above + name
      if name == services { return try takeServices(value) }
      if key == Setting.storeKey, value.isText || value.isNull { return try takeAddress(value) }
      if let setting = settings.first(where: { $0.key == key }) {
        guard lines[key] == nil else { throw value.fail(.duplicateKey) }
        try setting.read(value, into: &configuration)
        lines[key] = value.node.line
      } else {
        try take(value, settings.filter { $0.key.hasPrefix(key + ".") })
      }
    }
  }
}

extension ReadConfiguration {
  /// Takes the address of shared books where nothing else is said of them, or that there are none.
  private mutating func takeAddress(_ value: ConfigurationReader) throws(ConfigurationError) {
    guard !value.isNull else { return }
    configuration.store.address = try value.address()
    lines[Setting.storeAddressKey] = value.node.line
  }

  /// Takes the services of the file. Those that every branch comes with have their settings at the top, and may have them here
  /// instead.
  private mutating func takeServices(_ group: ConfigurationReader) throws(ConfigurationError) {
    var seen: Set<String> = []
    for (text, value) in try group.freeMembers() {
      guard let name = ServiceName(text) else { throw value.fail(.badServiceName(text)) }
      guard seen.insert(text).inserted else { throw value.fail(.duplicateKey) }
      if ServiceName.branch.contains(name) {
        try takeService(value, name)
      } else {
        if name != .run {
          guard configuration.services.count < ServiceDirectory.configurable else {
            throw value.fail(.tooManyServices(ServiceDirectory.configurable))
          }
          configuration.ownServices.append(name)
          configuration.windows[name] = 1
        }
        try take(
          value, Setting.ofService(name).filter { name != .run || $0.kind == nil && $0.kinds.contains(.run) })
        try checkKind(value, name)
        try checkLedger(value, name)
      }
    }
  }

  /// Takes what is said here of one of those that every branch comes with. Where both forms say something of one service
  /// nobody knows which is meant.
  private mutating func takeService(
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

  /// A service is of one kind, and says nothing that is only said of another.
  private mutating func checkKind(_ group: ConfigurationReader, _ name: ServiceName)
    throws(ConfigurationError)
  {
    let settings = Setting.ofService(name)
    // That it is not outside says nothing of what it is.
    if !configuration.isOutside(name) {
      for setting in settings where setting.kind == .outside { lines[setting.key] = nil }
    }
    let said = settings.compactMap { setting in lines[setting.key].map { (setting: setting, line: $0) } }
      .sorted { $0.line < $1.line }
    let kinds = said.compactMap { said in said.setting.kind.map { (kind: $0, line: said.line) } }
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
    for (setting, line) in said where !setting.kinds.contains(kind) {
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

extension ReadConfiguration {
  /// A transfer has two accounts, and is not from one to the same.
  private func checkLedger(_ group: ConfigurationReader, _ name: ServiceName) throws(ConfigurationError) {
    let (keys, settings) = (Setting.sideKeys(of: name), configuration[name])
    let said = [keys.debit, keys.credit].compactMap { lines[$0] }
    guard let line = said.max(), settings.postingRule == nil else { return }
    let key = "\(Setting.servicesKey).\(name).\(Setting.ledgerMember)"
    let reason: ConfigurationError.Reason
    if let both = settings.debited, said.count == 2 {
      reason = .sameAccount(both.name)
    } else {
      reason = .missing(settings.debited == nil ? "debit" : "credit")
    }
    throw ConfigurationError(path: group.path, key: key, line: line, reason: reason)
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
