// Owns what is heard on the wires to the stock service: whoever looks on is told of every change in its order, on each
// connection by itself. The clients would notice a gap and begin anew, so it is found here and not at their end.
// It must not change a byte.

import BankModel
import Wire

/// Listens to the connections of the simulated stock service.
final class StockEar {
  private struct Connection {
    var decoder = FrameDecoder(maximumBodyLength: FrameLimits.control)
    /// For each view the last change that was told; nil before the first word.
    var told: [UInt32: Int64?] = [:]
  }

  weak var world: Simulation?
  private var connections: [ObjectIdentifier: Connection] = [:]

  /// Bytes are written by one end of a connection.
  func hear(_ bytes: [UInt8], by process: SimulatedProcess, on end: StreamEnd) {
    guard let world, let service = world.scene.service, let peer = end.peer else { return }
    if process === service {
      hearService(bytes, ObjectIdentifier(end), ObjectIdentifier(peer))
    } else if peer.maker == service.pid {
      hearClient(bytes, ObjectIdentifier(end))
    }
  }

  private func bodies(of bytes: [UInt8], _ wire: ObjectIdentifier) -> [[UInt8]] {
    var connection = connections[wire] ?? Connection()
    defer { connections[wire] = connection }
    connection.decoder.append(bytes)
    var bodies: [[UInt8]] = []
    do { while let body = try connection.decoder.next() { bodies.append(Array(body)) } } catch {
      world?.violate(.conversation, "a frame of the stock is broken: \(error)")
    }
    return bodies
  }

  private func hearClient(_ bytes: [UInt8], _ wire: ObjectIdentifier) {
    for body in bodies(of: bytes, wire) {
      guard case .request(let request)? = try? CBORDecoder().decode(StockMessage.self, from: body[...]),
        case .follow(let place) = request.command
      else { continue }
      connections[wire]?.told[request.number] = .some(place?.sequence)
    }
  }

  private func hearService(_ bytes: [UInt8], _ wire: ObjectIdentifier, _ client: ObjectIdentifier) {
    for body in bodies(of: bytes, wire) {
      guard case .reply(let reply)? = try? CBORDecoder().decode(StockServiceMessage.self, from: body[...]),
        let told = connections[client]?.told[reply.number]
      else { continue }
      switch reply.result {
      case .picture(let picture): connections[client]?.told[reply.number] = .some(picture.sequence)
      case .changes(let changes):
        guard let last = changes.last else { continue }
        guard let told, changes.enumerated().allSatisfy({ $1.sequence == told + Int64($0) + 1 }) else {
          let words = "after change \(told.map { "\($0)" } ?? "none") came \(changes.map(\.sequence)) on one connection"
          world?.violate(.news, words)
          return
        }
        connections[client]?.told[reply.number] = .some(last.sequence)
      default: connections[client]?.told[reply.number] = nil
      }
    }
  }
}
