// Filter of well formed but harmful requests: any client may stop the bank, open many windows, or enqueue very many
// customers. A run with such requests would prove nothing.
// Invariant: it decodes the stream with the same code as the coordinator.
import BankModel
import Wire

/// Decides which requests an attack may not contain, because they would end or overload any bank.
enum RequestFilter {
  /// Maximum number of waiting customers in the attacked bank; larger requests are refused.
  static let maxWaiting: Int64 = 400
  /// Maximum number of customers of one accepted request, so that a run stays small.
  private static let customers: Int64 = 200
  /// Maximum number of windows that a request may open for a service.
  private static let windows: Int64 = 3

  /// True if these bytes contain a request that stops the bank, opens many windows, or adds many customers. They must
  /// be all bytes that a client sends.
  static func isHarmful(_ bytes: [UInt8]) -> Bool {
    var decoder = FrameDecoder(maximumBodyLength: FrameLimits.control)
    decoder.append(bytes)
    while let body = (try? decoder.next()) ?? nil {
      guard let message = read(body) else { return false }
      if case .request(let request) = message, isHarmful(request.command) { return true }
    }
    return false
  }

  /// Decodes the body of a frame; nil if it is not a message.
  private static func read(_ body: ArraySlice<UInt8>) -> ClientMessage? {
    if let message = body.withUnsafeBufferPointer({ ClientMessage.readDirectly($0) }) { return message }
    return try? CBORDecoder().decode(ClientMessage.self, from: body)
  }

  /// True for a request that stops the bank, opens many windows, or adds many customers.
  private static func isHarmful(_ command: ControlCommand) -> Bool {
    switch command {
    case .stop(let order): order.timeoutMilliseconds.map { $0 >= 0 } ?? true
    case .scale(let changes): changes.contains { (windows + 1...Limits.windowsPerService).contains($0.count) }
    case .enqueue(let order): (customers + 1...maxWaiting).contains(order.count)
    default: false
    }
  }
}
