// Owns which programs a configuration names that are somebody else's: whoever checks a file looks whether they are there.
// Failure: a program that is not there is refused with the place where it is named.

import BankModel

/// The program of a service, as the file names it.
public struct NamedProgram: Sendable, Hashable {
  /// Its name, or its path.
  public var name: String
  /// The `PATH` of its environment; nil where the file says none.
  public var path: String?
  /// Where it starts; nil where the file does not say it.
  public var directory: String?
  private let key: String
  private let line: Int?

  init(_ name: String, of settings: ServiceSettings, key: String, line: Int?) {
    self.name = name
    (path, directory) = (settings.environment["PATH"], settings.directory)
    (self.key, self.line) = (key, line)
  }

  /// The refusal of the file for it.
  public func refusal(_ reason: ConfigurationError.Reason, in file: String) -> ConfigurationError {
    ConfigurationError(path: file, key: key, line: line, reason: reason)
  }
}

extension ReadConfiguration {
  /// Every program that serves customers and is not of this build, in the order of the file.
  public var namedPrograms: [NamedProgram] {
    configuration.ownServices.flatMap { service in
      Setting.ofService(service).compactMap { setting in
        guard let words = setting.words(in: configuration), let name = words.first else { return nil }
        return NamedProgram(name, of: configuration[service], key: setting.key, line: lines[setting.key])
      }
    }
  }
}
