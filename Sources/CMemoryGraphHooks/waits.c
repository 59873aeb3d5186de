// waits.c: the calls that end early when a signal is handled, whatever its flags: here they go on when
// the signal was the one that stopped the thread for a mark.
//
// A program that sleeps for a minute must sleep for a minute, marks or not. The handler tells the
// thread that it ended a call, and no other signal is about to (threads.c); then the call is made again
// for the time that is left.

#define _GNU_SOURCE
#include "mg_agent.h"
#include "mg_sys.h"
#include "mg_waits.h"

#include <dlfcn.h>
#include <errno.h>
#include <limits.h>
#include <poll.h>
#include <semaphore.h>
#include <signal.h>
#include <sys/epoll.h>
#include <sys/select.h>
#include <time.h>
#include <unistd.h>

#define MG_EXPORT __attribute__((visibility("default"), used))

// glibc's own under the names that it exports for itself; the others are looked up when the agent is
// initialised, since these functions may be called where dlsym may not.
extern int __nanosleep(const struct timespec *, struct timespec *);
extern int __poll(struct pollfd *, nfds_t, int);
extern int __select(int, fd_set *, fd_set *, fd_set *, struct timeval *);

static struct {
  int (*clock_nanosleep)(clockid_t, int, const struct timespec *, struct timespec *);
  int (*ppoll)(struct pollfd *, nfds_t, const struct timespec *, const sigset_t *);
  int (*pselect)(int, fd_set *, fd_set *, fd_set *, const struct timespec *, const sigset_t *);
  int (*epoll_wait)(int, struct epoll_event *, int, int);
  int (*epoll_pwait)(int, struct epoll_event *, int, int, const sigset_t *);
  int (*sem_timedwait)(sem_t *, const struct timespec *);
  int (*sem_clockwait)(sem_t *, clockid_t, const struct timespec *);
  int (*pause)(void);
  int (*sigsuspend)(const sigset_t *);
} next;

#define LOOK_UP(name) (next.name = (__typeof__(next.name))dlsym(RTLD_NEXT, #name))

void mg_waits_start(void) {
  mg_thread.busy++;
  LOOK_UP(clock_nanosleep);
  LOOK_UP(ppoll);
  LOOK_UP(pselect);
  LOOK_UP(epoll_wait);
  LOOK_UP(epoll_pwait);
  LOOK_UP(sem_timedwait);
  LOOK_UP(sem_clockwait);
  LOOK_UP(pause);
  LOOK_UP(sigsuspend);
  mg_thread.busy--;
  mg_socket_waits_start();
}

// --- sleep -------------------------------------------------------------------------------------

MG_EXPORT int nanosleep(const struct timespec *time, struct timespec *left) {
  struct timespec rest, wanted;
  for (;;) {
    mg_wait_begins();
    int result = __nanosleep(time, &rest);
    if (result == 0 || errno != EINTR)
      return result;
    if (!mg_wait_ended_by_mark(EINTR)) {
      if (left)
        *left = rest;
      return result;
    }
    wanted = rest;
    time = &wanted;
  }
}

MG_EXPORT unsigned sleep(unsigned seconds) {
  struct timespec time = {seconds, 0};
  int error = errno; // unchanged where all went well
  if (nanosleep(&time, &time) < 0)
    return (unsigned)time.tv_sec;
  errno = error;
  return 0;
}

MG_EXPORT int usleep(useconds_t microseconds) {
  struct timespec time = {microseconds / 1000000, (long)(microseconds % 1000000) * 1000};
  return nanosleep(&time, NULL);
}

MG_EXPORT int clock_nanosleep(clockid_t clock, int flags, const struct timespec *time,
                              struct timespec *left) {
  if (!next.clock_nanosleep)
    return (int)-mg_sys4(SYS_clock_nanosleep, clock, flags, time, left);
  struct timespec rest, wanted;
  for (;;) {
    mg_wait_begins();
    int error = next.clock_nanosleep(clock, flags, time, &rest);
    if (error != EINTR)
      return error;
    bool is_relative = !(flags & TIMER_ABSTIME);
    if (!mg_wait_ended_by_mark(EINTR)) {
      if (left && is_relative)
        *left = rest;
      return error;
    }
    if (is_relative) {
      wanted = rest;
      time = &wanted;
    }
  }
}

// --- waiting for descriptors -------------------------------------------------------------------

// A limit in milliseconds as a moment; 0 where there is none.
MG_INLINE uint64_t moment_after(int milliseconds) {
  return milliseconds > 0 ? mg_clock(CLOCK_MONOTONIC) + (uint64_t)milliseconds * 1000000 : 0;
}

static int milliseconds_until(uint64_t moment, int limit) {
  if (limit <= 0)
    return limit;
  uint64_t now = mg_clock(CLOCK_MONOTONIC);
  return now < moment ? (int)((moment - now + 999999) / 1000000) : 0;
}

MG_EXPORT int poll(struct pollfd *files, nfds_t count, int limit) {
  uint64_t moment = moment_after(limit);
  for (;;) {
    mg_wait_begins();
    int result = __poll(files, count, limit);
    if (result >= 0 || !mg_wait_ended_by_mark(errno))
      return result;
    limit = milliseconds_until(moment, limit);
  }
}

// Linux leaves the time that is left in `limit`, and the sets as they were.
MG_EXPORT int select(int count, fd_set *restrict reading, fd_set *restrict writing,
                     fd_set *restrict failing, struct timeval *restrict limit) {
  int result;
  do {
    mg_wait_begins();
    result = __select(count, reading, writing, failing, limit);
  } while (result < 0 && mg_wait_ended_by_mark(errno));
  return result;
}

MG_EXPORT int ppoll(struct pollfd *files, nfds_t count, const struct timespec *limit,
                    const sigset_t *mask) {
  if (!next.ppoll) {
    errno = ENOSYS;
    return -1;
  }
  uint64_t moment = mg_moment_after(limit);
  struct timespec rest;
  for (;;) {
    mg_wait_begins();
    int result = next.ppoll(files, count, limit, mask);
    if (result >= 0 || !mg_wait_ended_by_mark(errno))
      return result;
    if (limit && moment != UINT64_MAX) {
      rest = mg_time_until(moment);
      limit = &rest;
    }
  }
}

MG_EXPORT int pselect(int count, fd_set *restrict reading, fd_set *restrict writing,
                      fd_set *restrict failing, const struct timespec *restrict limit,
                      const sigset_t *restrict mask) {
  if (!next.pselect) {
    errno = ENOSYS;
    return -1;
  }
  uint64_t moment = mg_moment_after(limit);
  struct timespec rest;
  for (;;) {
    mg_wait_begins();
    int result = next.pselect(count, reading, writing, failing, limit, mask);
    if (result >= 0 || !mg_wait_ended_by_mark(errno))
      return result;
    if (limit && moment != UINT64_MAX) {
      rest = mg_time_until(moment);
      limit = &rest;
    }
  }
}

MG_EXPORT int epoll_wait(int file, struct epoll_event *events, int count, int limit) {
  if (!next.epoll_wait) {
    errno = ENOSYS;
    return -1;
  }
  uint64_t moment = moment_after(limit);
  for (;;) {
    mg_wait_begins();
    int result = next.epoll_wait(file, events, count, limit);
    if (result >= 0 || !mg_wait_ended_by_mark(errno))
      return result;
    limit = milliseconds_until(moment, limit);
  }
}

MG_EXPORT int epoll_pwait(int file, struct epoll_event *events, int count, int limit,
                          const sigset_t *mask) {
  if (!next.epoll_pwait) {
    errno = ENOSYS;
    return -1;
  }
  uint64_t moment = moment_after(limit);
  for (;;) {
    mg_wait_begins();
    int result = next.epoll_pwait(file, events, count, limit, mask);
    if (result >= 0 || !mg_wait_ended_by_mark(errno))
      return result;
    limit = milliseconds_until(moment, limit);
  }
}

// --- waiting for a semaphore until a moment ----------------------------------------------------

MG_EXPORT int sem_timedwait(sem_t *restrict semaphore, const struct timespec *restrict moment) {
  if (!next.sem_timedwait) {
    errno = ENOSYS;
    return -1;
  }
  int result;
  do {
    mg_wait_begins();
    result = next.sem_timedwait(semaphore, moment);
  } while (result < 0 && mg_wait_ended_by_mark(errno));
  return result;
}

MG_EXPORT int sem_clockwait(sem_t *restrict semaphore, clockid_t clock,
                            const struct timespec *restrict moment) {
  if (!next.sem_clockwait) {
    errno = ENOSYS;
    return -1;
  }
  int result;
  do {
    mg_wait_begins();
    result = next.sem_clockwait(semaphore, clock, moment);
  } while (result < 0 && mg_wait_ended_by_mark(errno));
  return result;
}

// --- waiting for a signal ----------------------------------------------------------------------
//
// A server that waits in pause() for its SIGTERM must not end at the first mark.

MG_EXPORT int pause(void) {
  if (!next.pause) {
    errno = ENOSYS;
    return -1;
  }
  int result;
  do {
    mg_wait_begins();
    result = next.pause();
  } while (mg_wait_ended_by_mark(errno));
  return result;
}

MG_EXPORT int sigsuspend(const sigset_t *mask) {
  if (!next.sigsuspend) {
    errno = ENOSYS;
    return -1;
  }
  int result;
  do {
    mg_wait_begins();
    result = next.sigsuspend(mask);
  } while (mg_wait_ended_by_mark(errno));
  return result;
}
