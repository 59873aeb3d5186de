// serve.c: the frozen twin's own way to hand out its memory, where process_vm_readv and /proc/PID/mem are
// forbidden (mg_served.h has the messages).
//
// System calls alone. Memory that is not there is the kernel's to notice, which then sends nothing of the
// message: no fault can end the twin.

#define _GNU_SOURCE
#include "mg_agent.h"
#include "mg_served.h"
#include "mg_sys.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/socket.h>
#include <sys/uio.h>

// 0 or -errno.
static long send_piece(int socket, const void *bytes, uint32_t count, int error) {
  mg_served_header header = {count, error};
  struct iovec parts[2] = {{&header, sizeof header}, {(void *)(uintptr_t)bytes, count}};
  struct msghdr message = {.msg_iov = parts, .msg_iovlen = 2};
  long sent;
  do
    sent = mg_sys3(SYS_sendmsg, socket, &message, MSG_NOSIGNAL);
  while (sent == -EINTR);
  return sent < 0 ? sent : 0;
}

// Sends what there is of a range. Where a piece can't be sent its half is tried, so that the last byte
// before a hole is found.
static long serve_memory(int socket, uint64_t address, uint64_t count) {
  uint64_t most = MG_SERVED_PIECE;
  while (count) {
    uint64_t piece = count < most ? count : most;
    long result = send_piece(socket, (const void *)(uintptr_t)address, (uint32_t)piece, 0);
    if (result == 0) {
      address += piece;
      count -= piece;
    } else if (result == -EPIPE || result == -ECONNRESET || result == -EBADF) {
      return result;
    } else if (piece == 1) {
      return send_piece(socket, NULL, 0, (int)-result);
    } else {
      most = piece / 2;
    }
  }
  return send_piece(socket, NULL, 0, 0);
}

static long serve_file(int socket, const char *path) {
  char buffer[1024]; // the stack may be a small one
  long file = mg_sys4(SYS_openat, AT_FDCWD, path, O_RDONLY | O_CLOEXEC, 0), count = file;
  while (file >= 0) {
    count = mg_sys3(SYS_read, file, buffer, sizeof buffer);
    if (count == -EINTR)
      continue;
    if (count <= 0 || send_piece(socket, buffer, (uint32_t)count, 0) < 0)
      break;
  }
  if (file >= 0)
    mg_sys1(SYS_close, file);
  return send_piece(socket, NULL, 0, count < 0 ? (int)-count : 0);
}

static long serve_link(int socket, const char *path) {
  char buffer[4096];
  long count = mg_sys4(SYS_readlinkat, AT_FDCWD, path, buffer, sizeof buffer);
  if (count > 0) {
    long result = send_piece(socket, buffer, (uint32_t)count, 0);
    if (result < 0)
      return result;
  }
  return send_piece(socket, NULL, 0, count < 0 ? (int)-count : 0);
}

__attribute__((noinline)) void mg_serve(int socket) {
  for (;;) {
    mg_served_request request;
    long count = mg_sys6(SYS_recvfrom, socket, (long)&request, sizeof request, 0, 0, 0);
    if (count == -EINTR)
      continue;
    if (count != sizeof request)
      return;
    long result;
    switch (request.kind) {
    case MG_SERVE_MEMORY:
      result = serve_memory(socket, request.address, request.count);
      break;
    case MG_SERVE_MAPS:
      result = serve_file(socket, "/proc/self/maps");
      break;
    case MG_SERVE_STATM:
      result = serve_file(socket, "/proc/self/statm");
      break;
    case MG_SERVE_EXE:
      result = serve_link(socket, "/proc/self/exe");
      break;
    default:
      result = send_piece(socket, NULL, 0, EINVAL);
    }
    if (result < 0)
      return;
  }
}
