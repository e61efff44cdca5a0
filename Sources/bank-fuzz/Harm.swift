// Owns which requests do harm although they are well formed: anybody who may connect may end the bank, open hundreds of
// windows, or let millions come. A run that asked for that would prove nothing.
// It must not know how the bytes came about. Invariant: it reads a stream as the coordinator does, with the same code.
import BankModel
import Wire

enum Harm {
  /// So many may wait in the bank that is attacked; whoever asks for more is refused.
  static let maxWaiting: Int64 = 400
  /// Customers of one request, so that a run stays small.
  private static let customers: Int64 = 200
  private static let windows: Int64 = 3

  /// Whether these bytes, as all that a client says, ask for it.
  static func isMeant(_ bytes: [UInt8]) -> Bool {
    var decoder = FrameDecoder(maximumBodyLength: FrameLimits.control)
    decoder.append(bytes)
    while let body = (try? decoder.next()) ?? nil {
      guard let message = read(body) else { return false }
      if case .request(let request) = message, isMeant(request.command) { return true }
    }
    return false
  }

  private static func read(_ body: ArraySlice<UInt8>) -> ClientMessage? {
    if let message = body.withUnsafeBufferPointer({ ClientMessage.readDirectly($0) }) { return message }
    return try? CBORDecoder().decode(ClientMessage.self, from: body)
  }

  private static func isMeant(_ command: ControlCommand) -> Bool {
    switch command {
    case .stop(let order): order.timeoutMilliseconds.map { $0 >= 0 } ?? true
    case .scale(let changes): changes.contains { (windows + 1...Limits.windowsPerService).contains($0.count) }
    case .enqueue(let order): (customers + 1...maxWaiting).contains(order.count)
    default: false
    }
  }
}
