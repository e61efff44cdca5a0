// Version of the schema, for programs that only read the database.
// The reader itself refuses a newer version.

extension PostgresPreparation {
  /// The newest schema version that this program supports.
  public static var knownVersion: Int64 { PostgresSchema.version }
}
