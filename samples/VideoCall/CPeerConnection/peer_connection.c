// peer_connection.c: the list of open connections, each a handle with two media buffers.
#include "peer_connection.h"

#include <stdlib.h>

enum { media_buffer_bytes = 64 * 1024 };

struct peer_connection {
  peer_connection *_Nullable next;
  peer_callbacks callbacks;
  unsigned char *incoming;
  unsigned char *outgoing;
};

/// Every connection that is open, the newest first. It is what keeps a forgotten one alive.
static peer_connection *_Nullable open_connections;

peer_connection *peer_connection_open(peer_callbacks callbacks) {
  peer_connection *connection = malloc(sizeof *connection);
  unsigned char *incoming = calloc(1, media_buffer_bytes);
  unsigned char *outgoing = calloc(1, media_buffer_bytes);
  if (!connection || !incoming || !outgoing) {
    free(connection);
    free(incoming);
    free(outgoing);
    return NULL;
  }
  *connection = (peer_connection){open_connections, callbacks, incoming, outgoing};
  open_connections = connection;
  return connection;
}

void peer_connection_change_state(peer_connection *connection, int state) {
  connection->callbacks.on_state(connection->callbacks.context, state);
}

void peer_connection_close(peer_connection *connection) {
  peer_connection **link = &open_connections;
  while (*link && *link != connection) {
    link = &(*link)->next;
  }
  if (!*link) {
    return;
  }
  *link = connection->next;
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
  for (peer_connection *each = open_connections; each; each = each->next) {
    count++;
  }
  return count;
}
