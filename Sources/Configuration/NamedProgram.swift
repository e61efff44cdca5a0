// External programs that a configuration names for its services,
// with the keys and lines that name them.

import BankModel

/// An external program that the configuration names for a service.
public struct NamedProgram: Sendable, Hashable {
  /// Name or path.
  public var name: String
  /// `PATH` of the program's environment; nil if the file sets none.
  public var path: String?
  /// Working directory; nil if the file sets none.
  public var directory: String?
  private let key: String
  private let line: Int?

  init(_ name: String, of settings: ServiceSettings, key: String, line: Int?) {
    self.name = name
    (path, directory) = (settings.environment["PATH"], settings.directory)
    (self.key, self.line) = (key, line)
  }

  /// Returns the error about this program with this reason, at the key and line that name it.
  public func refusal(_ reason: ConfigurationError.Reason, in file: String) -> ConfigurationError {
    ConfigurationError(path: file, key: key, line: line, reason: reason)
  }
}

extension LoadedConfiguration {
  /// The external programs of the services that the file adds, in the order of the services.
  public var namedPrograms: [NamedProgram] {
    configuration.ownServices.flatMap { service in
      Setting.ofService(service).compactMap { setting in
        guard let words = setting.words(in: configuration), let name = words.first else { return nil }
        return NamedProgram(name, of: configuration[service], key: setting.key, line: lines[setting.key])
      }
    }
  }
}
