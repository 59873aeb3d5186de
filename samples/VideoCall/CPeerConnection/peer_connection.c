// peer_connection.c: the table of open connections, each a handle with two media buffers.
#include "peer_connection.h"

#include <stdlib.h>

enum { media_buffer_bytes = 64 * 1024 };

struct peer_connection {
  peer_callbacks callbacks;
  unsigned char *incoming;
  unsigned char *outgoing;
};

/// Every connection that is open, NULL where one was closed. It is what keeps a forgotten one alive.
static peer_connection *_Nullable *_Nullable open_connections;
static size_t places;

/// Where a connection is in the table, or where there is room for one where it is NULL.
static peer_connection **_Nullable find(const peer_connection *_Nullable connection) {
  for (size_t i = 0; i < places; i++) {
    if (open_connections[i] == connection) {
      return &open_connections[i];
    }
  }
  return NULL;
}

/// Makes the table larger where it is full.
static void make_room(void) {
  if (find(NULL)) {
    return;
  }
  size_t more = places + 64;
  peer_connection **table = realloc(open_connections, more * sizeof *table);
  if (!table) {
    return;
  }
  while (places < more) {
    table[places++] = NULL;
  }
  open_connections = table;
}

peer_connection *peer_connection_open(peer_callbacks callbacks) {
  make_room();
  peer_connection **place = find(NULL);
  peer_connection *connection = malloc(sizeof *connection);
  unsigned char *incoming = calloc(1, media_buffer_bytes);
  unsigned char *outgoing = calloc(1, media_buffer_bytes);
  if (!place || !connection || !incoming || !outgoing) {
    free(connection);
    free(incoming);
    free(outgoing);
    return NULL;
  }
  *connection = (peer_connection){callbacks, incoming, outgoing};
  *place = connection;
  return connection;
}

void peer_connection_change_state(peer_connection *connection, int state) {
  connection->callbacks.on_state(connection->callbacks.context, state);
}

void peer_connection_close(peer_connection *connection) {
  peer_connection **place = find(connection);
  if (!place) {
    return;
  }
  *place = NULL;
  peer_callbacks callbacks = connection->callbacks;
  free(connection->incoming);
  free(connection->outgoing);
  free(connection);
  // Last, since it may end the life of whoever called.
  callbacks.release(callbacks.context);
}

size_t peer_connection_bytes(void) {
  return sizeof(peer_connection) + 2 * (size_t)media_buffer_bytes;
}

size_t peer_connection_open_count(void) {
  size_t count = 0;
  for (size_t i = 0; i < places; i++) {
    count += open_connections[i] != NULL;
  }
  return count;
}
