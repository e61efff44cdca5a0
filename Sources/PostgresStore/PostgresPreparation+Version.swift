// Owns what those who only read the books know of their version. It knows no connection: a newer version is refused by
// whoever reads.

extension PostgresPreparation {
  /// The newest version of the books that this program knows.
  public static var knownVersion: Int64 { PostgresSchema.version }
}
