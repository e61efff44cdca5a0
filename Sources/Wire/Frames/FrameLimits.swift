// Owns every limit on the length of a frame, in one place. Invariant: both ends of a connection use the same number;
// raising one is a change of the protocol. A longer frame is refused by `FrameDecoder` and never made by
// `FrameEncoder`.

/// The longest bodies that frames may have, in bytes, by the kind of connection.
public enum FrameLimits {
  /// On the control socket, where a reply can hold a page of a list: 1 MiB.
  public static let control = 1 << 20

  /// Between the coordinator and a teller, whose messages are small: 64 KiB.
  public static let teller = 64 << 10
}
