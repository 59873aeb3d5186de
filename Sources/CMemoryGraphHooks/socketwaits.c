// socketwaits.c: the calls that wait with a limit that the socket has (SO_RCVTIMEO, SO_SNDTIMEO), and those of
// System V: a mark ends them too, and here they go on for the time that is left (see waits.c).
//
// Without such a limit the kernel makes these calls again by itself. They may be called before the
// agent is initialised, by libraries that begin before it: then they are the bare system calls.

#define _GNU_SOURCE
#include "mg_agent.h"
#include "mg_sys.h"
#include "mg_waits.h"

#include <dlfcn.h>
#include <errno.h>
#include <poll.h>
#include <sys/epoll.h>
#include <sys/msg.h>
#include <sys/sem.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <time.h>
#include <unistd.h>

#define MG_EXPORT __attribute__((visibility("default"), used))

static struct {
  ssize_t (*read)(int, void *, size_t);
  ssize_t (*recv)(int, void *, size_t, int);
  ssize_t (*recvfrom)(int, void *restrict, size_t, int, struct sockaddr *restrict,
                      socklen_t *restrict);
  ssize_t (*recvmsg)(int, struct msghdr *, int);
  int (*accept)(int, struct sockaddr *restrict, socklen_t *restrict);
  int (*accept4)(int, struct sockaddr *restrict, socklen_t *restrict, int);
  ssize_t (*send)(int, const void *, size_t, int);
  ssize_t (*sendto)(int, const void *, size_t, int, const struct sockaddr *, socklen_t);
  ssize_t (*sendmsg)(int, const struct msghdr *, int);
  int (*connect)(int, const struct sockaddr *, socklen_t);
  ssize_t (*msgrcv)(int, void *, size_t, long, int);
  int (*msgsnd)(int, const void *, size_t, int);
  int (*semop)(int, struct sembuf *, size_t);
  int (*semtimedop)(int, struct sembuf *, size_t, const struct timespec *);
  int (*epoll_pwait2)(int, struct epoll_event *, int, const struct timespec *, const sigset_t *);
} next;

#define LOOK_UP(name) (next.name = (__typeof__(next.name))dlsym(RTLD_NEXT, #name))

void mg_socket_waits_start(void) {
  mg_thread.busy++;
  LOOK_UP(read);
  LOOK_UP(recv);
  LOOK_UP(recvfrom);
  LOOK_UP(recvmsg);
  LOOK_UP(accept);
  LOOK_UP(accept4);
  LOOK_UP(send);
  LOOK_UP(sendto);
  LOOK_UP(sendmsg);
  LOOK_UP(connect);
  LOOK_UP(msgrcv);
  LOOK_UP(msgsnd);
  LOOK_UP(semop);
  LOOK_UP(semtimedop);
  LOOK_UP(epoll_pwait2);
  mg_thread.busy--;
}

// A system call's result as libc gives it.
static long as_libc(long result) {
  if (result >= 0)
    return result;
  errno = (int)-result;
  return -1;
}

// Some milliseconds early at most. From the page that the kernel shares with the process: read is called
// often, and this is a hundredth of a system call.
MG_INLINE uint64_t moment_of_start(void) {
  struct timespec now;
  clock_gettime(CLOCK_MONOTONIC_COARSE, &now);
  return (uint64_t)now.tv_sec * 1000000000 + (uint64_t)now.tv_nsec;
}

// Waits as long as a socket's limit allows, for a call that began at a moment and that a mark ended. 0 where
// the call is to be made again; else what it fails with.
static int wait_for_rest(int file, int option, uint64_t start) {
  struct timeval limit = {0, 0};
  socklen_t length = sizeof limit;
  if (mg_sys5(SYS_getsockopt, file, SOL_SOCKET, option, &limit, &length) < 0 ||
      (limit.tv_sec == 0 && limit.tv_usec == 0))
    return 0; // no socket, or no limit
  uint64_t end = start + (uint64_t)limit.tv_sec * 1000000000 + (uint64_t)limit.tv_usec * 1000;
  struct pollfd entry = {.fd = file, .events = option == SO_RCVTIMEO ? POLLIN : POLLOUT};
  for (;;) {
    uint64_t now = mg_clock(CLOCK_MONOTONIC);
    if (now >= end)
      return EAGAIN;
    struct timespec rest = {(time_t)((end - now) / 1000000000), (long)((end - now) % 1000000000)};
    mg_wait_begins();
    long result = mg_sys5(SYS_ppoll, &entry, 1, &rest, NULL, 8);
    if (result > 0)
      return 0;
    if (result == 0)
      return EAGAIN;
    if (!mg_wait_ended_by_mark((int)-result))
      return (int)-result;
  }
}

// Makes a call until something else than a mark ends it. `bare` is the system call by itself.
#define MG_SOCKET_CALL(type, name, parameters, arguments, bare, option, late)                      \
  MG_EXPORT type name parameters {                                                                 \
    if (!next.name)                                                                                \
      return (type)as_libc(bare);                                                                  \
    uint64_t start = moment_of_start();                                                            \
    for (;;) {                                                                                     \
      mg_wait_begins();                                                                            \
      type result = next.name arguments;                                                           \
      if (result >= 0 || !mg_wait_ended_by_mark(errno))                                            \
        return result;                                                                             \
      int error = wait_for_rest(file, option, start);                                              \
      if (error) {                                                                                 \
        errno = error == EAGAIN ? late : error;                                                    \
        return -1;                                                                                 \
      }                                                                                            \
    }                                                                                              \
  }

MG_SOCKET_CALL(ssize_t, read, (int file, void *bytes, size_t count), (file, bytes, count),
               mg_sys3(SYS_read, file, bytes, count), SO_RCVTIMEO, EAGAIN)

MG_SOCKET_CALL(ssize_t, recv, (int file, void *bytes, size_t count, int flags),
               (file, bytes, count, flags),
               mg_sys6(SYS_recvfrom, file, (long)bytes, (long)count, flags, 0, 0), SO_RCVTIMEO,
               EAGAIN)

MG_SOCKET_CALL(ssize_t, recvfrom,
               (int file, void *restrict bytes, size_t count, int flags,
                struct sockaddr *restrict from, socklen_t *restrict length),
               (file, bytes, count, flags, from, length),
               mg_sys6(SYS_recvfrom, file, (long)bytes, (long)count, flags, (long)from,
                       (long)length),
               SO_RCVTIMEO, EAGAIN)

MG_SOCKET_CALL(ssize_t, recvmsg, (int file, struct msghdr *message, int flags),
               (file, message, flags), mg_sys3(SYS_recvmsg, file, message, flags), SO_RCVTIMEO,
               EAGAIN)

MG_SOCKET_CALL(int, accept, (int file, struct sockaddr *restrict from, socklen_t *restrict length),
               (file, from, length), mg_sys3(SYS_accept, file, from, length), SO_RCVTIMEO, EAGAIN)

MG_SOCKET_CALL(int, accept4,
               (int file, struct sockaddr *restrict from, socklen_t *restrict length, int flags),
               (file, from, length, flags), mg_sys4(SYS_accept4, file, from, length, flags),
               SO_RCVTIMEO, EAGAIN)

MG_SOCKET_CALL(ssize_t, send, (int file, const void *bytes, size_t count, int flags),
               (file, bytes, count, flags),
               mg_sys6(SYS_sendto, file, (long)bytes, (long)count, flags, 0, 0), SO_SNDTIMEO,
               EAGAIN)

MG_SOCKET_CALL(ssize_t, sendto,
               (int file, const void *bytes, size_t count, int flags, const struct sockaddr *to,
                socklen_t length),
               (file, bytes, count, flags, to, length),
               mg_sys6(SYS_sendto, file, (long)bytes, (long)count, flags, (long)to, length),
               SO_SNDTIMEO, EAGAIN)

MG_SOCKET_CALL(ssize_t, sendmsg, (int file, const struct msghdr *message, int flags),
               (file, message, flags), mg_sys3(SYS_sendmsg, file, message, flags), SO_SNDTIMEO,
               EAGAIN)

// Made again, it waits for the connection that is being made.
MG_SOCKET_CALL(int, connect, (int file, const struct sockaddr *to, socklen_t length),
               (file, to, length), mg_sys3(SYS_connect, file, to, length), SO_SNDTIMEO, EINPROGRESS)

// --- System V ----------------------------------------------------------------------------------

MG_EXPORT ssize_t msgrcv(int queue, void *message, size_t count, long type, int flags) {
  if (!next.msgrcv)
    return as_libc(mg_sys5(SYS_msgrcv, queue, message, count, type, flags));
  ssize_t result;
  do {
    mg_wait_begins();
    result = next.msgrcv(queue, message, count, type, flags);
  } while (result < 0 && mg_wait_ended_by_mark(errno));
  return result;
}

MG_EXPORT int msgsnd(int queue, const void *message, size_t count, int flags) {
  if (!next.msgsnd)
    return (int)as_libc(mg_sys4(SYS_msgsnd, queue, message, count, flags));
  int result;
  do {
    mg_wait_begins();
    result = next.msgsnd(queue, message, count, flags);
  } while (result < 0 && mg_wait_ended_by_mark(errno));
  return result;
}

MG_EXPORT int semop(int semaphores, struct sembuf *operations, size_t count) {
  if (!next.semop)
    return (int)as_libc(mg_sys4(SYS_semtimedop, semaphores, operations, count, 0));
  int result;
  do {
    mg_wait_begins();
    result = next.semop(semaphores, operations, count);
  } while (result < 0 && mg_wait_ended_by_mark(errno));
  return result;
}

MG_EXPORT int semtimedop(int semaphores, struct sembuf *operations, size_t count,
                         const struct timespec *limit) {
  if (!next.semtimedop)
    return (int)as_libc(mg_sys4(SYS_semtimedop, semaphores, operations, count, limit));
  uint64_t moment = mg_moment_after(limit);
  struct timespec rest;
  for (;;) {
    mg_wait_begins();
    int result = next.semtimedop(semaphores, operations, count, limit);
    if (result >= 0 || !mg_wait_ended_by_mark(errno))
      return result;
    if (moment != UINT64_MAX) {
      rest = mg_time_until(moment);
      limit = &rest;
    }
  }
}

MG_EXPORT int epoll_pwait2(int file, struct epoll_event *events, int count,
                           const struct timespec *limit, const sigset_t *mask) {
  if (!next.epoll_pwait2)
    return (int)as_libc(
        mg_sys6(SYS_epoll_pwait2, file, (long)events, count, (long)limit, (long)mask, 8));
  uint64_t moment = mg_moment_after(limit);
  struct timespec rest;
  for (;;) {
    mg_wait_begins();
    int result = next.epoll_pwait2(file, events, count, limit, mask);
    if (result >= 0 || !mg_wait_ended_by_mark(errno))
      return result;
    if (moment != UINT64_MAX) {
      rest = mg_time_until(moment);
      limit = &rest;
    }
  }
}
