// Mapping between names and numbers of services: clients, files and logs use names, and the queue uses numbers.
// Invariant: every service that the queue can refer to has a name in the directory. Only configured services accept new
// customers and windows; the others keep their names, because data on disk may refer to them.

import BankModel
import Wire

struct OfferedServices: Sendable {
  /// All services that ever had a number.
  let directory: ServiceDirectory
  /// Configured services, in the order of the configuration.
  let names: [ServiceName]
  /// Service for command lines; nil before it has a number.
  let commandLines: Service?
  private let offered: [ServiceName: Service]
  /// Offered services among the built-in ones. Their names are few, and comparing them takes less time than
  /// hashing.
  private let branch: [(name: ServiceName, service: Service)]

  /// - Parameter names: Configured services. One without a number is not offered.
  init(_ directory: ServiceDirectory, offering names: [ServiceName]) {
    self.directory = directory
    self.names = names.filter { directory[$0] != nil }
    var offered: [ServiceName: Service] = [:]
    for name in names { offered[name] = directory[name] }
    self.offered = offered
    branch = ServiceName.branch.compactMap { name in offered[name].map { (name, $0) } }
    commandLines = offered[.run]
  }

  /// Offered service of this name; nil if it is not offered.
  subscript(name: ServiceName) -> Service? {
    for known in branch where known.name == name { return known.service }
    return offered[name]
  }

  /// Services that are not configured any more.
  var unconfigured: [Service] { directory.services.filter { offered[directory[$0]] == nil } }

  /// Offered service of this name. Throws `noSuchService` if it is not offered.
  func service(_ name: ServiceName) throws(Failure) -> Service {
    guard let service = self[name] else { throw unknown(name) }
    return service
  }

  /// Service of this name, offered or not. Throws `noSuchService` if it never had a number.
  func known(_ name: ServiceName) throws(Failure) -> Service {
    guard let service = directory[name] else { throw unknown(name) }
    return service
  }

  /// Largest number of services that a failure lists.
  private static let maxListedNames = 40

  /// Failure that lists the configured services, up to a limit.
  private func unknown(_ name: ServiceName) -> Failure { Self.unknown(name, among: names) }

  /// Failure for an unknown service, which lists these services, up to a limit.
  static func unknown(_ name: ServiceName, among names: [ServiceName]) -> Failure {
    var known = names.prefix(maxListedNames).map(\.text).joined(separator: ", ")
    if names.count > maxListedNames { known += ", …" }
    return Failure(.noSuchService, subject: name.text, messageDetail: MessageDetail(.servicesAre, known))
  }
}
