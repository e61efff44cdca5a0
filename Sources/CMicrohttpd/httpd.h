// The system's libmicrohttpd as a Swift module.
// This header adds inline functions for it.
#include <microhttpd.h>

/// Callbacks and settings of a daemon. The library calls the functions from within MHD_run, MHD_add_connection and
/// MHD_stop_daemon.
struct httpd_orders {
  void *context;
  MHD_AccessHandlerCallback on_access;
  MHD_RequestCompletedCallback on_completed;
  MHD_NotifyConnectionCallback on_connection;
  /// Receives the target of a request as the client has sent it. The result becomes the context of the request.
  void *(*on_target)(void *context, const char *target, struct MHD_Connection *connection);
  /// Memory of each connection in bytes, which limits its headers.
  size_t memory;
  /// Maximum number of connections.
  unsigned int connections;
};

/// Starts a daemon without a listening socket and without a thread. The caller watches the daemon's epoll
/// descriptor. NULL on failure. See MHD_start_daemon. With MHD_USE_TURBO the daemon ends a connection with
/// close(2) and without shutdown(2), so that a duplicate of its descriptor stays usable.
static inline struct MHD_Daemon *httpd_start(const struct httpd_orders *orders) {
  return MHD_start_daemon(
      MHD_USE_EPOLL | MHD_USE_NO_LISTEN_SOCKET | MHD_ALLOW_SUSPEND_RESUME | MHD_USE_TURBO, 0, NULL, NULL, orders->on_access,
      orders->context, MHD_OPTION_NOTIFY_COMPLETED, orders->on_completed, orders->context,
      MHD_OPTION_NOTIFY_CONNECTION, orders->on_connection, orders->context, MHD_OPTION_URI_LOG_CALLBACK,
      orders->on_target, orders->context, MHD_OPTION_CONNECTION_MEMORY_LIMIT, orders->memory,
      MHD_OPTION_CONNECTION_LIMIT, orders->connections, MHD_OPTION_CONNECTION_TIMEOUT, 0u,
      MHD_OPTION_STRICT_FOR_CLIENT, 1, MHD_OPTION_SIGPIPE_HANDLED_BY_APP, 1, MHD_OPTION_END);
}

/// The epoll descriptor of the daemon; -1 if there is none.
static inline int httpd_descriptor(struct MHD_Daemon *daemon) {
  const union MHD_DaemonInfo *info = MHD_get_daemon_info(daemon, MHD_DAEMON_INFO_EPOLL_FD);
  return info == NULL ? -1 : info->epoll_fd;
}

/// The context set in the connection callback; NULL for none.
static inline void *httpd_connection_context(struct MHD_Connection *connection) {
  const union MHD_ConnectionInfo *info = MHD_get_connection_info(connection, MHD_CONNECTION_INFO_SOCKET_CONTEXT);
  return info == NULL ? NULL : info->socket_context;
}

/// Socket of a connection; -1 for none.
static inline int httpd_connection_descriptor(struct MHD_Connection *connection) {
  const union MHD_ConnectionInfo *info = MHD_get_connection_info(connection, MHD_CONNECTION_INFO_CONNECTION_FD);
  return info == NULL ? -1 : info->connect_fd;
}

// Functions for constants, because Swift versions import these enumeration constants differently.
static inline enum MHD_Result httpd_yes(void) { return MHD_YES; }
static inline enum MHD_Result httpd_no(void) { return MHD_NO; }

/// True if the connection callback reports a new connection.
static inline int httpd_begins(enum MHD_ConnectionNotificationCode code) {
  return code == MHD_CONNECTION_NOTIFY_STARTED;
}

/// Calls `each` for every header of a request.
static inline void httpd_each_header(struct MHD_Connection *connection, MHD_KeyValueIterator each, void *context) {
  MHD_get_connection_values(connection, MHD_HEADER_KIND, each, context);
}

/// Creates a response with a copy of these bytes; NULL if there is no memory.
static inline struct MHD_Response *httpd_response(const void *bytes, size_t count) {
  return MHD_create_response_from_buffer(count, (void *)bytes, MHD_RESPMEM_MUST_COPY);
}

/// True if the daemon has to run again without waiting for input.
static inline int httpd_has_more(struct MHD_Daemon *daemon) {
  MHD_UNSIGNED_LONG_LONG milliseconds = 1;
  return MHD_get_timeout(daemon, &milliseconds) == MHD_YES && milliseconds == 0;
}
