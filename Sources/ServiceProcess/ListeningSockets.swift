// Sockets of one service with their access rights.
// Invariant: a socket is accessible to the bank's owner alone, unless its endpoint names a group. The group may then
// connect to the socket and pass through the home and its `run` directory.

import Posix
import Time
import Transport
import Wire

/// Description of one socket of a service.
public struct ServiceEndpoint: Sendable {
  /// File name in the directory of the sockets, without `.sock`.
  public var name: String
  /// Group whose members may connect in addition to the owner, and the setting that names the group.
  public var group: (name: String, setting: String)?

  /// Describes a socket for the owner alone, or for the owner and a group.
  public init(_ name: String, group: (name: String, setting: String)? = nil) {
    (self.name, self.group) = (name, group)
  }
}

final class ListeningSockets<Command: Codable & Sendable & Equatable, Reply: Codable & Sendable & Equatable> {
  typealias Socket = ServiceCall<Command, Reply>.Socket

  let all: [Socket]
  private let endpoints: [ServiceEndpoint]

  init(_ endpoints: [ServiceEndpoint], on loop: EventLoop, _ limits: ServiceLimits) {
    self.endpoints = endpoints
    all = endpoints.map { endpoint in
      var limits = limits
      if endpoint.group != nil { limits.acceptsOtherUsers = true }
      return Socket(loop: loop, limits: limits)
    }
  }

  /// Paths of the sockets, in the order of the endpoints.
  func paths(in home: ServiceHome) -> [String] { endpoints.map { Paths.join(home.run, $0.name + ".sock") } }

  /// Starts to listen. The first socket is bound last, so that the others exist when a client can connect to it.
  func listen(in home: ServiceHome) throws {
    for path in paths(in: home).reversed() { try listen(at: path, home) }
  }

  /// Binds the socket of the endpoint with this path, and grants the endpoint's group access.
  func listen(at path: String, _ home: ServiceHome) throws {
    for (index, present) in paths(in: home).enumerated() where present == path {
      all[index].stopListening()
      try all[index].listen(at: path)
      guard let group = endpoints[index].group else { continue }
      do throws(SystemError) {
        let number = try GroupAccess.group(named: group.name)
        for directory in [home.path, home.run] { try GroupAccess.share(directory, with: number, mode: 0o710) }
        try GroupAccess.share(path, with: number, mode: 0o660)
      } catch { throw Failure(.badConfiguration, subject: group.setting, detail: error.description) }
    }
  }

  /// True if no client is connected.
  var isEmpty: Bool { all.allSatisfy { $0.sessions.isEmpty } }
  var nextDeadline: MonotonicTime? {
    var earliest: MonotonicTime?
    for socket in all { earliest = .earliest(earliest, socket.nextDeadline) }
    return earliest
  }

  /// Does what is due on each socket.
  func runTimers(_ moment: MonotonicTime) { for socket in all { socket.runTimers(moment) } }
  /// Writes the queued output of all clients.
  func flush() { for socket in all { socket.flush() } }
  /// Stops reading requests of clients.
  func stopReceiving() { for socket in all { socket.stopReceiving() } }
  /// Disconnects each client after its last message was sent.
  func closeAfterFlush() { for socket in all { socket.closeAfterFlush() } }
}
