// The system's libpq as a Swift module, with functions that replace macros and constants.
// A notice receiver writes nothing to standard error.
#if __has_include(<libpq-fe.h>)
#include <libpq-fe.h>
#else
#include <postgresql/libpq-fe.h>
#endif

/// SQLSTATE of an error; NULL if absent, as in an error of the library. See PQresultErrorField.
static inline const char *postgres_state_of(const PGresult *result) {
  return PQresultErrorField(result, PG_DIAG_SQLSTATE);
}
/// Severity of an error, not translated, such as ERROR or FATAL; NULL if absent.
static inline const char *postgres_severity_of(const PGresult *result) {
  return PQresultErrorField(result, PG_DIAG_SEVERITY_NONLOCALIZED);
}
/// Primary message of an error; NULL if absent.
static inline const char *postgres_message_of(const PGresult *result) {
  return PQresultErrorField(result, PG_DIAG_MESSAGE_PRIMARY);
}
/// Detail of an error; NULL if absent.
static inline const char *postgres_detail_of(const PGresult *result) {
  return PQresultErrorField(result, PG_DIAG_MESSAGE_DETAIL);
}

/// Receiver of notices that does nothing.
static inline void postgres_ignore(void *context, const PGresult *notice) {
  (void)context;
  (void)notice;
}

/// Discards notices, which the library would write to standard error. See PQsetNoticeReceiver.
static inline void postgres_leave_out_notices(PGconn *connection) {
  PQsetNoticeReceiver(connection, postgres_ignore, (void *)0);
}

/// Kind of a result: a row, the end of a command, an error, a command that the server has skipped after an error, the
/// end of a segment, or any other result. See PQresultStatus.
enum postgres_kind {
  POSTGRES_ROW,
  POSTGRES_END,
  POSTGRES_FAILED,
  POSTGRES_LEFT_OUT,
  POSTGRES_SYNC,
  POSTGRES_STRANGE
};

/// Returns the kind of a result, as a value of postgres_kind.
static inline int postgres_kind_of(const PGresult *result) {
  switch (PQresultStatus(result)) {
    case PGRES_SINGLE_TUPLE: return POSTGRES_ROW;
    case PGRES_TUPLES_OK:
    case PGRES_COMMAND_OK:
    case PGRES_EMPTY_QUERY: return POSTGRES_END;
    case PGRES_FATAL_ERROR: return POSTGRES_FAILED;
    case PGRES_PIPELINE_ABORTED: return POSTGRES_LEFT_OUT;
    case PGRES_PIPELINE_SYNC: return POSTGRES_SYNC;
    default: return POSTGRES_STRANGE;
  }
}

/// Progress of a connection attempt. See PQconnectPoll.
enum postgres_progress { POSTGRES_CONNECTED, POSTGRES_WANTS_TO_READ, POSTGRES_WANTS_TO_WRITE, POSTGRES_NOT_CONNECTED };

/// Takes the next step of connecting, and returns the progress as a value of postgres_progress.
static inline int postgres_continue(PGconn *connection) {
  switch (PQconnectPoll(connection)) {
    case PGRES_POLLING_OK: return POSTGRES_CONNECTED;
    case PGRES_POLLING_READING: return POSTGRES_WANTS_TO_READ;
    case PGRES_POLLING_WRITING: return POSTGRES_WANTS_TO_WRITE;
    default: return POSTGRES_NOT_CONNECTED;
  }
}

/// True if the connection is unusable. See PQstatus.
static inline int postgres_is_bad(const PGconn *connection) { return PQstatus(connection) == CONNECTION_BAD; }
