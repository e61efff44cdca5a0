// The system's libmicrohttpd as a Swift module. Of our own are only calls that Swift cannot make, because they take what
// they are given by number and kind as it comes, and the flags with which one daemon of ours is started.
#include <microhttpd.h>

/// What a daemon is started with. Each function may be called from within MHD_run and httpd_add, and from nowhere else.
struct httpd_orders {
  void *context;
  MHD_AccessHandlerCallback on_access;
  MHD_RequestCompletedCallback on_completed;
  MHD_NotifyConnectionCallback on_connection;
  /// Given the target of a request as it was sent; what it returns is the request's context.
  void *(*on_target)(void *context, const char *target, struct MHD_Connection *connection);
  /// Bytes of memory for the headers of each connection.
  size_t memory;
  unsigned int connections;
};

/// Starts a daemon that listens nowhere, has no thread, and waits in an epoll descriptor that somebody else watches.
/// NULL where it cannot. See MHD_start_daemon. With MHD_USE_TURBO a connection that it gives up is closed and not shut down, so
/// that a second descriptor of it stays in use.
static inline struct MHD_Daemon *httpd_start(const struct httpd_orders *orders) {
  return MHD_start_daemon(
      MHD_USE_EPOLL | MHD_USE_NO_LISTEN_SOCKET | MHD_ALLOW_SUSPEND_RESUME | MHD_USE_TURBO, 0, NULL, NULL, orders->on_access,
      orders->context, MHD_OPTION_NOTIFY_COMPLETED, orders->on_completed, orders->context,
      MHD_OPTION_NOTIFY_CONNECTION, orders->on_connection, orders->context, MHD_OPTION_URI_LOG_CALLBACK,
      orders->on_target, orders->context, MHD_OPTION_CONNECTION_MEMORY_LIMIT, orders->memory,
      MHD_OPTION_CONNECTION_LIMIT, orders->connections, MHD_OPTION_CONNECTION_TIMEOUT, 0u,
      MHD_OPTION_STRICT_FOR_CLIENT, 1, MHD_OPTION_SIGPIPE_HANDLED_BY_APP, 1, MHD_OPTION_END);
}

/// The descriptor to watch; -1 where there is none.
static inline int httpd_descriptor(struct MHD_Daemon *daemon) {
  const union MHD_DaemonInfo *info = MHD_get_daemon_info(daemon, MHD_DAEMON_INFO_EPOLL_FD);
  return info == NULL ? -1 : info->epoll_fd;
}

/// The context that the notice of a connection has set; NULL for none.
static inline void *httpd_connection_context(struct MHD_Connection *connection) {
  const union MHD_ConnectionInfo *info = MHD_get_connection_info(connection, MHD_CONNECTION_INFO_SOCKET_CONTEXT);
  return info == NULL ? NULL : info->socket_context;
}

/// The socket of a connection; -1 for none.
static inline int httpd_connection_descriptor(struct MHD_Connection *connection) {
  const union MHD_ConnectionInfo *info = MHD_get_connection_info(connection, MHD_CONNECTION_INFO_CONNECTION_FD);
  return info == NULL ? -1 : info->connect_fd;
}

// Constants under names that Swift finds, whatever it makes of those of an enumeration.
static inline enum MHD_Result httpd_yes(void) { return MHD_YES; }
static inline enum MHD_Result httpd_no(void) { return MHD_NO; }

/// Whether the notice of a connection is about its beginning.
static inline int httpd_begins(enum MHD_ConnectionNotificationCode code) {
  return code == MHD_CONNECTION_NOTIFY_STARTED;
}

/// Goes through the headers of a request.
static inline void httpd_each_header(struct MHD_Connection *connection, MHD_KeyValueIterator each, void *context) {
  MHD_get_connection_values(connection, MHD_HEADER_KIND, each, context);
}

/// A response of these bytes, which are copied; NULL where there is no memory.
static inline struct MHD_Response *httpd_response(const void *bytes, size_t count) {
  return MHD_create_response_from_buffer(count, (void *)bytes, MHD_RESPMEM_MUST_COPY);
}

/// Whether the daemon has more to do without waiting for anybody.
static inline int httpd_has_more(struct MHD_Daemon *daemon) {
  MHD_UNSIGNED_LONG_LONG milliseconds = 1;
  return MHD_get_timeout(daemon, &milliseconds) == MHD_YES && milliseconds == 0;
}
