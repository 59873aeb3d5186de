// listener.c: the agent's thread that answers `memgraph mark PID NAME`.
//
// It has a table of descriptors of its own, so the program neither sees nor closes its socket, and
// it takes no signal of the program. Requests and answers are lines, as on the channel:
//
//     mark<TAB>1<TAB>NAME          snapshot<TAB>1<TAB>PATH
//     ok<TAB>FILE       or         error<TAB>ERRNO<TAB>sentence
//
// FILE is the snapshot's; a mark without one is just ok.

#define _GNU_SOURCE
#include "mg_agent.h"
#include "mg_sys.h"

#include <errno.h>
#include <linux/close_range.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <sys/un.h>

static int listen_at_own_name(void) {
  // The abstract name space has no file to clean up after a crash; who connects is checked.
  struct sockaddr_un address = {.sun_family = AF_UNIX};
  int bytes =
      snprintf(address.sun_path + 1, sizeof address.sun_path - 1, "memory-graph/%u", mg_state.pid);
  long socket = mg_sys3(SYS_socket, AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
  if (socket < 0)
    return -1;
  socklen_t length = (socklen_t)(offsetof(struct sockaddr_un, sun_path) + 1 + (size_t)bytes);
  if (mg_sys3(SYS_bind, socket, &address, length) < 0 || mg_sys2(SYS_listen, socket, 8) < 0) {
    mg_sys1(SYS_close, socket);
    return -1;
  }
  return (int)socket;
}

static bool may_ask(int connection) {
  struct ucred peer = {0, 0, 0};
  socklen_t length = sizeof peer;
  if (mg_sys5(SYS_getsockopt, connection, SOL_SOCKET, SO_PEERCRED, &peer, &length) < 0)
    return false;
  return peer.uid == 0 || peer.uid == (uid_t)mg_sys0(SYS_geteuid);
}

static void answer(int connection, int error, const char *file) {
  char text[MG_MAX_PATH + 64];
  int bytes = error ? snprintf(text, sizeof text, "error\t%d\tthe mark could not be taken\n", error)
                    : snprintf(text, sizeof text, "ok%s%s\n", *file ? "\t" : "", file);
  mg_sys6(SYS_sendto, connection, (long)text, bytes, MSG_NOSIGNAL, 0, 0);
}

static void serve(int connection) {
  // A client that says nothing must not hold up the next one.
  struct timeval patience = {5, 0};
  mg_sys5(SYS_setsockopt, connection, SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof patience);
  char text[4096];
  size_t count = 0;
  char *end = NULL;
  while (!end && count < sizeof text - 1) {
    long got = mg_sys6(SYS_recvfrom, connection, (long)(text + count),
                       (long)(sizeof text - 1 - count), 0, 0, 0);
    if (got <= 0 && got != -EINTR)
      return;
    if (got > 0) {
      end = memchr(text + count, '\n', (size_t)got);
      count += (size_t)got;
    }
  }
  if (!end)
    return answer(connection, EMSGSIZE, "");
  *end = 0;
  if (strncmp(text, "mark\t1\t", 7) == 0) {
    char file[MG_MAX_PATH];
    int error = mg_mark_telling(text + 7, file);
    return answer(connection, error, file);
  }
  if (strncmp(text, "snapshot\t1\t", 11) == 0)
    return answer(connection, mg_snapshot_asked(text + 11), text + 11);
  answer(connection, EPROTONOSUPPORT, "");
}

// 1 once the socket is there, or can't be.
static _Atomic uint32_t is_ready;

static void tell_ready(void) {
  atomic_store(&is_ready, 1);
  mg_futex_wake(&is_ready, 1);
}

static int open_own_socket(void) {
  // A kernel without this call would leave the program's descriptors open here: no thread then.
  if (mg_sys3(SYS_close_range, 0, ~0u, CLOSE_RANGE_UNSHARE) < 0)
    return -1;
  return listen_at_own_name();
}

static void *listen_for_marks(void *unused) {
  (void)unused;
  mg_thread.busy = 1;
  mg_threads_set_agent_thread(mg_tid());
  mg_sys2(SYS_prctl, 15 /* PR_SET_NAME */, "memory-graph");
  int socket = open_own_socket();
  tell_ready();
  if (socket < 0)
    return NULL;
  for (;;) {
    long connection = mg_sys4(SYS_accept4, socket, 0, 0, SOCK_CLOEXEC);
    if (connection == -EINTR || connection == -ECONNABORTED)
      continue;
    if (connection < 0)
      return NULL;
    if (may_ask((int)connection))
      serve((int)connection);
    mg_sys1(SYS_close, connection);
  }
}

void mg_listener_start(void) {
  sigset_t all, old;
  pthread_attr_t attributes;
  pthread_t thread;
  sigfillset(&all);
  // Swift's crash handler stops threads with this one. libdispatch leaves it to its threads too.
  sigdelset(&all, SIGPROF);
  pthread_sigmask(SIG_SETMASK, &all, &old);
  pthread_attr_init(&attributes);
  pthread_attr_setstacksize(&attributes, 256 << 10);
  pthread_attr_setdetachstate(&attributes, PTHREAD_CREATE_DETACHED);
  mg_thread.busy++;
  int error = pthread_create(&thread, &attributes, listen_for_marks, NULL);
  mg_thread.busy--;
  pthread_attr_destroy(&attributes);
  pthread_sigmask(SIG_SETMASK, &old, NULL);
  // Once main runs, a mark can be asked for.
  while (!error && !atomic_load(&is_ready))
    mg_futex_wait(&is_ready, 0, 0);
}
