// peer_connection.h: a stand-in for a native calling library, with the habits of the real ones.
//
// An open connection is serviced by the library, so the library keeps it until it is closed; it
// keeps the callbacks' context as long. Letting go of the handle isn't enough. One thread only.
#pragma once

#include <stddef.h>

#pragma clang assume_nonnull begin

/// A connection to the other side of a call, with its media buffers.
typedef struct peer_connection peer_connection;

/// Where a connection sends its events.
typedef struct {
  /// Handed to both functions; the library doesn't look into it.
  void *context;
  /// The connection's state has changed.
  void (*on_state)(void *context, int state);
  /// The connection was closed: its owner takes the context back.
  void (*release)(void *context);
} peer_callbacks;

/// Opens a connection; it stays open, and holds the context, until peer_connection_close(). NULL:
/// there is no memory.
peer_connection *_Nullable peer_connection_open(peer_callbacks callbacks);

/// Tells the connection's owner of a new state, as the network would.
void peer_connection_change_state(peer_connection *connection, int state);

/// Closes a connection, gives the context back and frees the buffers.
void peer_connection_close(peer_connection *connection);

/// The bytes that a connection takes with its buffers.
size_t peer_connection_bytes(void);

/// How many connections are open.
size_t peer_connection_open_count(void);

#pragma clang assume_nonnull end
