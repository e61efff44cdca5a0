// Version of the schema, for programs that only read the database.
// Invariant: such a program rejects a newer version.

extension SchemaMigration {
  /// The newest schema version that this program supports.
  public static var knownVersion: Int64 { PostgresSchema.version }
}
