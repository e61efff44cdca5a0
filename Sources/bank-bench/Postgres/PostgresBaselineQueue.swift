// Models of other queues in PostgreSQL, reduced to the server's work: columns, indexes and constraints of a job, and
// the statements that take and complete jobs. The texts and names were written for this benchmark. The facts are from
// the sources that the comment of each model names.
// Invariant: an omission makes a model faster than the real queue.
#if HAS_POSTGRES
  struct PostgresBaselineQueue {
    let name: String
    /// Number of jobs that the clients of the queue take at once, according to its documentation.
    let page: Int
    /// Target of the speed ratio of the shared database to this queue.
    let goal: Double
    /// Statements that create the tables of the queue, in a schema of its own.
    let tables: [String]
    /// Inserts `$1` jobs.
    let fill: String
    /// Takes up to `$1` jobs and returns the columns that a client receives. The first column is the number of the
    /// job.
    let take: String
    /// Completes the jobs of the array `$1`.
    let done: String

    /// Name of the schema with the tables of the queue.
    var schema: String { "rival_\(name.lowercased().filter(\.isLetter))" }

    static let all = [river, graphile, pgmq]

    /// River 0.2x. Source: github.com/riverqueue/river, `riverdriver/riverpgxv5`, migrations 002 to 006 and the
    /// queries JobGetAvailable and JobSetStateIfRunningMany, the latter only for jobs that have succeeded. River
    /// keeps jobs for a day after their completion, so they remain in the table.
    private static let river = PostgresBaselineQueue(
      name: "River", page: 100, goal: 5,
      tables: [
        """
        CREATE TYPE state AS ENUM
          ('available', 'cancelled', 'completed', 'discarded', 'pending', 'retryable', 'running', 'scheduled')
        """,
        """
        CREATE FUNCTION is_in(states bit(8), state state) RETURNS boolean LANGUAGE sql IMMUTABLE AS
          $$ SELECT get_bit(states, CASE state WHEN 'available' THEN 7 WHEN 'cancelled' THEN 6 WHEN 'completed' THEN 5
            WHEN 'discarded' THEN 4 WHEN 'pending' THEN 3 WHEN 'retryable' THEN 2 WHEN 'running' THEN 1 ELSE 0 END) = 1 $$
        """,
        """
        CREATE TABLE job (
          id bigserial PRIMARY KEY, state state NOT NULL DEFAULT 'available', attempt smallint NOT NULL DEFAULT 0,
          max_attempts smallint NOT NULL CHECK (max_attempts > 0), attempted_at timestamptz,
          created_at timestamptz NOT NULL DEFAULT now(), finalized_at timestamptz,
          scheduled_at timestamptz NOT NULL DEFAULT now(),
          priority smallint NOT NULL DEFAULT 1 CHECK (priority BETWEEN 1 AND 4), args jsonb NOT NULL, attempted_by text[],
          errors jsonb[], kind text NOT NULL CHECK (char_length(kind) BETWEEN 1 AND 127),
          metadata jsonb NOT NULL DEFAULT '{}',
          queue text NOT NULL DEFAULT 'default' CHECK (char_length(queue) BETWEEN 1 AND 127),
          tags varchar(255)[] NOT NULL DEFAULT '{}', unique_key bytea, unique_states bit(8),
          CHECK ((finalized_at IS NULL) = (state NOT IN ('cancelled', 'completed', 'discarded')))
        )
        """,
        "CREATE INDEX ON job (kind)",
        "CREATE INDEX ON job (state, finalized_at) WHERE finalized_at IS NOT NULL",
        "CREATE INDEX ON job (state, queue, priority, scheduled_at, id)",
        "CREATE INDEX ON job USING gin (args)", "CREATE INDEX ON job USING gin (metadata)",
        """
        CREATE UNIQUE INDEX ON job (unique_key)
          WHERE unique_key IS NOT NULL AND unique_states IS NOT NULL AND is_in(unique_states, state)
        """,
      ],
      fill: """
        INSERT INTO job (kind, args, max_attempts)
        SELECT 'work', jsonb_build_object('n', n), 25 FROM generate_series(1, $1::bigint) n
        """,
      take: """
        WITH chosen AS (
          SELECT * FROM job WHERE state = 'available' AND queue = 'default' AND scheduled_at <= now()
          ORDER BY priority, scheduled_at, id LIMIT $1 FOR UPDATE SKIP LOCKED)
        UPDATE job SET state = 'running', attempt = job.attempt + 1, attempted_at = now(),
          attempted_by = array_append(job.attempted_by, 'a client of ours')
        FROM chosen WHERE job.id = chosen.id RETURNING job.*
        """,
      done: """
        WITH ended AS (SELECT unnest($1::bigint[]) AS id, now() AS at),
          held AS (SELECT job.id, ended.at FROM job JOIN ended ON ended.id = job.id WHERE job.state = 'running' FOR UPDATE),
          changed AS (UPDATE job SET state = 'completed', finalized_at = held.at FROM held WHERE job.id = held.id
            RETURNING job.*)
        SELECT * FROM job WHERE id IN (SELECT id FROM ended) AND id NOT IN (SELECT id FROM changed)
        UNION SELECT * FROM changed
        """)

    /// Graphile Worker 0.17, for jobs outside named queues, in batches as its local queue requests them.
    /// Source: github.com/graphile/worker, `sql/000011.sql` to `000020.sql`, `src/sql/getJobs.ts`,
    /// `src/sql/completeJobs.ts`.
    private static let graphile = PostgresBaselineQueue(
      name: "Graphile Worker", page: 100, goal: 2.5,
      tables: [
        """
        CREATE TABLE queue (id int PRIMARY KEY GENERATED ALWAYS AS IDENTITY, name text NOT NULL UNIQUE, locked_at timestamptz,
          locked_by text, is_available boolean GENERATED ALWAYS AS (locked_at IS NULL) STORED NOT NULL)
        """,
        """
        CREATE TABLE job (
          id bigint PRIMARY KEY GENERATED ALWAYS AS IDENTITY, job_queue_id int, task_id int NOT NULL,
          payload json NOT NULL DEFAULT '{}', priority smallint NOT NULL DEFAULT 0, run_at timestamptz NOT NULL DEFAULT now(),
          attempts smallint NOT NULL DEFAULT 0, max_attempts smallint NOT NULL DEFAULT 25 CHECK (max_attempts >= 1),
          last_error text, created_at timestamptz NOT NULL DEFAULT now(), updated_at timestamptz NOT NULL DEFAULT now(),
          key text UNIQUE CHECK (length(key) BETWEEN 1 AND 512), locked_at timestamptz, locked_by text,
          revision int NOT NULL DEFAULT 0, flags jsonb,
          is_available boolean GENERATED ALWAYS AS (locked_at IS NULL AND attempts < max_attempts) STORED NOT NULL
        )
        """,
        "CREATE INDEX ON job (priority, run_at) INCLUDE (id, task_id, job_queue_id) WHERE is_available = true",
        """
        CREATE INDEX ON job (priority, run_at) INCLUDE (id, task_id) WHERE is_available = true AND job_queue_id IS NULL
        """,
      ],
      fill: """
        INSERT INTO job (task_id, payload) SELECT 1, json_build_object('n', n) FROM generate_series(1, $1::bigint) n
        """,
      take: """
        WITH found AS (
            SELECT job_queue_id, priority, run_at, id FROM job
            WHERE is_available = true AND run_at <= now() AND task_id = ANY (ARRAY[1])
              AND (job_queue_id IS NULL OR job_queue_id IN (
                SELECT id FROM queue WHERE is_available = true FOR UPDATE SKIP LOCKED))
            ORDER BY priority, run_at LIMIT $1 FOR UPDATE SKIP LOCKED),
          chosen AS (
            SELECT DISTINCT ON (job_queue_id, CASE WHEN job_queue_id IS NULL THEN id END) job_queue_id, id FROM found
            ORDER BY job_queue_id, CASE WHEN job_queue_id IS NULL THEN id END, priority, run_at),
          locked AS (UPDATE queue SET locked_by = 'a pool of ours', locked_at = now() FROM chosen
            WHERE queue.id = chosen.job_queue_id)
        UPDATE job SET attempts = job.attempts + 1, locked_by = 'a pool of ours', locked_at = now()
        FROM chosen WHERE job.id = chosen.id RETURNING job.*
        """,
      done: "DELETE FROM job USING unnest($1::bigint[]) AS done (id) WHERE job.id = done.id")

    /// pgmq 1.5, a queue that is neither partitioned nor unlogged. Completed jobs are deleted, not archived. The
    /// functions of pgmq build their statements as text in each call; this model prepares them. Source:
    /// github.com/pgmq/pgmq, `pgmq-extension/sql/pgmq.sql`: create_non_partitioned, read, delete.
    private static let pgmq = PostgresBaselineQueue(
      name: "pgmq", page: 100, goal: 2.5,
      tables: [
        """
        CREATE TABLE message (msg_id bigint PRIMARY KEY GENERATED ALWAYS AS IDENTITY, read_ct int NOT NULL DEFAULT 0,
          enqueued_at timestamptz NOT NULL DEFAULT now(), vt timestamptz NOT NULL, message jsonb, headers jsonb)
        """, "CREATE INDEX ON message (vt ASC)",
      ],
      fill: """
        INSERT INTO message (vt, message)
        SELECT clock_timestamp(), jsonb_build_object('n', n) FROM generate_series(1, $1::bigint) n
        """,
      take: """
        WITH chosen AS (SELECT msg_id FROM message WHERE vt <= clock_timestamp() ORDER BY msg_id LIMIT $1
          FOR UPDATE SKIP LOCKED)
        UPDATE message m SET vt = clock_timestamp() + interval '30 s', read_ct = read_ct + 1
        FROM chosen WHERE m.msg_id = chosen.msg_id
        RETURNING m.msg_id, m.read_ct, m.enqueued_at, m.vt, m.message, m.headers
        """,
      done: "DELETE FROM message WHERE msg_id = ANY ($1) RETURNING msg_id")
  }
#endif
