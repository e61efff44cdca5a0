// Schema of the receipts since version 7.
// Invariant: a released migration never changes; see `Schema`.

extension Schema {
  /// Stores receipts in pages. Until version 6 each served customer changed two trees, the receipts and the index
  /// of their tickets, and each row repeated the day and nearly the same time. SQL can read the pages.
  static let receiptPages = """
    -- Receipts of one day that were committed one after another, at most sixteen: one array for each, in the order of the
    -- columns of the view, from the ticket on.
    CREATE TABLE receipt_page (
      first INTEGER PRIMARY KEY, -- the sequence number of the first of them; the others follow without a gap
      day INTEGER NOT NULL,
      moment_ms INTEGER NOT NULL, -- from which the last number of each counts on, and from that the two before it back
      entries TEXT NOT NULL -- JSON
    ) STRICT;

    -- Which receipts the tickets have, 64 in a row: the sequence numbers with 13 digits each, 0 for none.
    CREATE TABLE ticket_block (
      block INTEGER PRIMARY KEY, -- (day << 34) | (ticket >> 6)
      sequences TEXT NOT NULL
    ) STRICT;

    INSERT INTO receipt_page (first, day, moment_ms, entries)
    SELECT page.first, page.day, page.moment, (
      SELECT '[' || group_concat(entry, ',') || ']' FROM (
        SELECT \(entry("page.moment")) AS entry FROM receipt
        WHERE sequence BETWEEN page.first AND page.last ORDER BY sequence))
    FROM (
      SELECT min(sequence) AS first, max(sequence) AS last, receipt.day AS day, coalesce(day.opened_ms, 0) AS moment
      FROM receipt LEFT JOIN day ON day.day = receipt.day
      GROUP BY receipt.day, sequence >> 4 HAVING max(sequence) - min(sequence) + 1 = count(*)
    ) AS page ORDER BY page.first;
    -- Receipts with gaps between them get a page each.
    INSERT INTO receipt_page (first, day, moment_ms, entries)
    SELECT receipt.sequence, receipt.day, receipt.finished_ms, '[' || \(entry("receipt.finished_ms")) || ']'
    FROM (
      SELECT min(sequence) AS first, max(sequence) AS last, day FROM receipt
      GROUP BY day, sequence >> 4 HAVING max(sequence) - min(sequence) + 1 <> count(*)
    ) AS page CROSS JOIN receipt ON receipt.day = page.day AND receipt.sequence BETWEEN page.first AND page.last;

    INSERT INTO ticket_block (block, sequences)
    WITH RECURSIVE slot(number) AS (SELECT 0 UNION ALL SELECT number + 1 FROM slot WHERE number < 63)
    SELECT part.day << 34 | part.block, (
      SELECT group_concat(printf('%013d', coalesce((
          SELECT sequence FROM receipt WHERE receipt.day = part.day AND ticket = part.block << 6 | number), 0)), '')
      FROM slot)
    FROM (
      SELECT DISTINCT day, ticket >> 6 AS block FROM receipt
      WHERE ticket BETWEEN 1 AND 1099511627775 AND sequence BETWEEN 1 AND 9999999999999
    ) AS part ORDER BY 1;

    DROP TABLE receipt;

    -- The end of one ticket. Sequence numbers have no gaps.
    CREATE VIEW receipt AS
    SELECT
      page.first + entry.key AS sequence,
      page.day AS day,
      json_extract(entry.value, '$[0]') AS ticket,
      json_extract(entry.value, '$[1]') AS service,
      json_extract(entry.value, '$[2]') AS grade,
      json_extract(entry.value, '$[3]') AS outcome, -- 1 served, 2 cancelled, 3 out of stock
      json_extract(entry.value, '$[4]') AS place, -- the window's place; null where no window had the customer
      json_extract(entry.value, '$[5]') AS generation,
      json_extract(entry.value, '$[6]') AS pid,
      json_extract(entry.value, '$[7]') AS attempts,
      json_extract(entry.value, '$[8]') AS amount,
      json_extract(entry.value, '$[9]') AS account,
      json_extract(entry.value, '$[10]') AS debit, -- account codes; null where nothing was done
      json_extract(entry.value, '$[11]') AS credit,
      page.moment_ms + json_extract(entry.value, '$[14]') - json_extract(entry.value, '$[12]') AS issued_ms,
      page.moment_ms + json_extract(entry.value, '$[14]') - json_extract(entry.value, '$[13]') AS started_ms,
      page.moment_ms + json_extract(entry.value, '$[14]') AS finished_ms,
      json_extract(entry.value, '$[15]') AS article
    FROM receipt_page AS page, json_each(page.entries) AS entry;
    """

  /// SQL expression that converts a row of the former table to an entry of a page with the base time `moment`.
  private static func entry(_ moment: String) -> String {
    let number = { (column: String) in "coalesce(\(column), 'null')" }
    return """
      '[' || ticket || ',' || service || ',' || grade || ',' || outcome || ',' || \(number("place")) || ',' || generation \
      || ',' || pid || ',' || attempts || ',' || amount || ',' || account || ',' || \(number("debit")) || ',' \
      || \(number("credit")) || ',' || (finished_ms - issued_ms) || ',' || \(number("finished_ms - started_ms")) \
      || ',' || (finished_ms - \(moment)) || CASE WHEN article IS NULL THEN '' ELSE ',' || json_quote(article) END || ']'
      """
  }
}
