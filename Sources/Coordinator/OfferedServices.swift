// Owns the edge between names and numbers: clients, files and logs know a service by its name, and the queue by its number.
// Invariant: every service that the queue can speak of has a name here. New customers and windows are only for those that
// the configuration names; the others keep their names for as long as anything of them is on disk.

import BankModel
import Wire

/// The services of an open bank.
struct OfferedServices: Sendable {
  /// Every service that ever had a number.
  let directory: ServiceDirectory
  /// Those that the configuration names, in its order.
  let names: [ServiceName]
  /// The service for command lines, which every bank offers; nil before it has a number.
  let commandLines: Service?
  private let offered: [ServiceName: Service]
  /// Of the services that every branch comes with, those that are offered. Their names are compared, and not hashed: nearly
  /// everybody comes for one of them.
  private let branch: [(name: ServiceName, service: Service)]

  /// - Parameter names: those of the configuration. One without a number is not offered.
  init(_ directory: ServiceDirectory, offering names: [ServiceName]) {
    self.directory = directory
    self.names = names.filter { directory[$0] != nil }
    var offered: [ServiceName: Service] = [:]
    for name in names { offered[name] = directory[name] }
    self.offered = offered
    branch = ServiceName.branch.compactMap { name in offered[name].map { (name, $0) } }
    commandLines = offered[.run]
  }

  /// The service of a name for which somebody can come; nil where it is not offered.
  subscript(name: ServiceName) -> Service? {
    for known in branch where known.name == name { return known.service }
    return offered[name]
  }

  /// Services that the configuration does not name any more.
  var takenOut: [Service] { directory.services.filter { offered[directory[$0]] == nil } }

  /// The service of a name for which somebody can come.
  func service(_ name: ServiceName) throws(Failure) -> Service {
    guard let service = self[name] else { throw unknown(name) }
    return service
  }

  /// The service of a name, whether somebody can come for it or not.
  func known(_ name: ServiceName) throws(Failure) -> Service {
    guard let service = directory[name] else { throw unknown(name) }
    return service
  }

  private static let told = 40

  /// Names those that there are: of very many the first.
  private func unknown(_ name: ServiceName) -> Failure { Self.unknown(name, among: names) }

  static func unknown(_ name: ServiceName, among names: [ServiceName]) -> Failure {
    var known = names.prefix(told).map(\.text).joined(separator: ", ")
    if names.count > told { known += ", …" }
    return Failure(.noSuchService, subject: name.text, remark: Remark(.servicesAre, known))
  }
}
