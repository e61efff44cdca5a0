// Schema of the bank's database since version 8: names that a reader who knows SQL and job queues understands.
// Invariant: a released migration never changes; see `Schema`.

extension Schema {
  /// Renames tables, columns and names in `meta`. The view is created again, because SQLite cannot rename the
  /// columns of a view.
  static let names = """
    DROP VIEW receipt;
    ALTER TABLE later RENAME TO scheduled_ticket;
    ALTER TABLE release RENAME TO stock_release;
    ALTER TABLE customer RENAME COLUMN article TO item_name;
    ALTER TABLE attempt RENAME COLUMN place TO window_number;
    ALTER TABLE attempt RENAME COLUMN words TO reason;
    ALTER TABLE request_key RENAME COLUMN request TO request_digest;
    ALTER TABLE receipt_page RENAME COLUMN moment_ms TO base_ms;
    ALTER TABLE result RENAME COLUMN output TO output_head;
    ALTER TABLE result RENAME COLUMN output_end TO output_tail;
    ALTER TABLE result RENAME COLUMN output_filed TO output_file_length;
    ALTER TABLE result RENAME COLUMN errors TO stderr_head;
    ALTER TABLE result RENAME COLUMN errors_end TO stderr_tail;
    ALTER TABLE result RENAME COLUMN errors_length TO stderr_length;
    ALTER TABLE result RENAME COLUMN errors_filed TO stderr_file_length;
    UPDATE meta SET name = 'bank id' WHERE name = 'books';
    UPDATE meta SET name = 'bank id day' WHERE name = 'books day';
    UPDATE meta SET name = 'bank id ticket' WHERE name = 'books ticket';
    UPDATE meta SET name = 'incomplete request from' WHERE name = 'arriving from';

    -- The end of one ticket. Sequence numbers have no gaps.
    CREATE VIEW receipt AS
    SELECT
      page.first + entry.key AS sequence,
      page.day AS day,
      json_extract(entry.value, '$[0]') AS ticket,
      json_extract(entry.value, '$[1]') AS service,
      json_extract(entry.value, '$[2]') AS grade,
      json_extract(entry.value, '$[3]') AS outcome, -- 1 served, 2 cancelled, 3 out of stock
      json_extract(entry.value, '$[4]') AS window_number, -- null if no window had the customer
      json_extract(entry.value, '$[5]') AS generation,
      json_extract(entry.value, '$[6]') AS pid,
      json_extract(entry.value, '$[7]') AS attempts,
      json_extract(entry.value, '$[8]') AS amount,
      json_extract(entry.value, '$[9]') AS account,
      json_extract(entry.value, '$[10]') AS debit, -- codes of accounts; null if nothing was transferred
      json_extract(entry.value, '$[11]') AS credit,
      page.base_ms + json_extract(entry.value, '$[14]') - json_extract(entry.value, '$[12]') AS issued_ms,
      page.base_ms + json_extract(entry.value, '$[14]') - json_extract(entry.value, '$[13]') AS started_ms,
      page.base_ms + json_extract(entry.value, '$[14]') AS finished_ms,
      json_extract(entry.value, '$[15]') AS item_name
    FROM receipt_page AS page, json_each(page.entries) AS entry;
    """
}
