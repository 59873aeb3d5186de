// masks.c: the functions by which a program blocks signals, so that the one that stops threads
// always gets through, as libc does for its own two.
//
// libdispatch's threads block every signal. Before the start only such a full set is recognised: a
// program that the agent does not work in keeps the use of the signal for itself.

#define _GNU_SOURCE
#include "mg_agent.h"
#include "mg_sys.h"

#include <dlfcn.h>
#include <errno.h>
#include <signal.h>
#include <sys/signalfd.h>

#define MG_EXPORT __attribute__((visibility("default"), used))

enum { KERNEL_SIGSET_BYTES = 8 };

// libc's signals for cancellation and for setuid in all threads.
#define LIBC_SIGNALS (UINT64_C(3) << 31)

MG_INLINE uint64_t bit_of(int signal) {
  return UINT64_C(1) << (signal - 1);
}

static uint64_t words_of(const sigset_t *set) {
  return *(const uint64_t *)(const void *)set;
}

// A set without the agent's signal.
static uint64_t without_own(uint64_t mask) {
  if (mg_stop_signal)
    return mask & ~bit_of(mg_stop_signal);
  // The start takes the last signal. A set with the first and the last of the real-time signals is
  // one that was filled.
  uint64_t full = bit_of(34) | bit_of(63) | bit_of(64);
  return (mask & full) == full ? mask & ~bit_of(64) : mask;
}

static long change_mask(int how, const sigset_t *set, sigset_t *old) {
  uint64_t mask = 0;
  if (set) {
    mask = words_of(set) & ~LIBC_SIGNALS;
    if (how != SIG_UNBLOCK)
      mask = without_own(mask);
  }
  return mg_sys4(SYS_rt_sigprocmask, how, set ? &mask : 0, old, KERNEL_SIGSET_BYTES);
}

MG_EXPORT int pthread_sigmask(int how, const sigset_t *set, sigset_t *old) {
  return (int)-change_mask(how, set, old);
}

MG_EXPORT int sigprocmask(int how, const sigset_t *set, sigset_t *old) {
  long result = change_mask(how, set, old);
  if (result == 0)
    return 0;
  errno = (int)-result;
  return -1;
}

MG_EXPORT int sigaction(int signal, const struct sigaction *new, struct sigaction *old) {
  extern int __sigaction(int, const struct sigaction *, struct sigaction *);
  if (MG_UNLIKELY(new &&mg_stop_signal &&signal == mg_stop_signal)) {
    errno = EINVAL;
    return -1;
  }
  return __sigaction(signal, new, old);
}

MG_EXPORT int signalfd(int file, const sigset_t *set, int flags) {
  uint64_t mask = without_own(words_of(set));
  long result = mg_sys4(SYS_signalfd4, file, &mask, KERNEL_SIGSET_BYTES, flags);
  if (result >= 0)
    return (int)result;
  errno = (int)-result;
  return -1;
}

// libc's function of a name. These are cancellation points, so they can't be system calls here.
static void *next_function(const char *name, _Atomic(void *) *known) {
  void *function = atomic_load_explicit(known, memory_order_relaxed);
  if (!function) {
    mg_thread.busy++;
    function = dlsym(RTLD_NEXT, name);
    mg_thread.busy--;
    atomic_store_explicit(known, function, memory_order_relaxed);
  }
  return function;
}

static sigset_t set_without_own(const sigset_t *set) {
  sigset_t copy = *set;
  *(uint64_t *)(void *)&copy = without_own(words_of(set));
  return copy;
}

// A thread that waits for all signals would be given the stop as one of them.
MG_EXPORT int sigwait(const sigset_t *restrict set, int *restrict signal) {
  static _Atomic(void *) known;
  int (*function)(const sigset_t *, int *) =
      (int (*)(const sigset_t *, int *))next_function("sigwait", &known);
  sigset_t copy = set_without_own(set);
  return function ? function(&copy, signal) : ENOSYS;
}

MG_EXPORT int sigtimedwait(const sigset_t *restrict set, siginfo_t *restrict info,
                           const struct timespec *restrict timeout) {
  static _Atomic(void *) known;
  int (*function)(const sigset_t *, siginfo_t *, const struct timespec *) =
      (int (*)(const sigset_t *, siginfo_t *, const struct timespec *))next_function("sigtimedwait",
                                                                                     &known);
  sigset_t copy = set_without_own(set);
  if (!function) {
    errno = ENOSYS;
    return -1;
  }
  // As for the calls of waits.c: a mark does not end the wait.
  uint64_t begin = mg_clock(CLOCK_MONOTONIC);
  struct timespec rest;
  for (;;) {
    mg_thread.was_stopped_in_call = 0;
    atomic_signal_fence(memory_order_seq_cst);
    int result = function(&copy, info, timeout);
    if (result >= 0 || errno != EINTR || !mg_thread.was_stopped_in_call)
      return result;
    if (timeout) {
      uint64_t now = mg_clock(CLOCK_MONOTONIC), passed = now - begin;
      uint64_t wanted = (uint64_t)timeout->tv_sec * 1000000000 + (uint64_t)timeout->tv_nsec;
      uint64_t left = passed < wanted ? wanted - passed : 0;
      rest = (struct timespec){(time_t)(left / 1000000000), (long)(left % 1000000000)};
      timeout = &rest;
      begin = now;
    }
  }
}

MG_EXPORT int sigwaitinfo(const sigset_t *restrict set, siginfo_t *restrict info) {
  return sigtimedwait(set, info, NULL);
}

void mg_masks_let_through(void) {
  uint64_t own = bit_of(mg_stop_signal);
  mg_sys4(SYS_rt_sigprocmask, SIG_UNBLOCK, &own, 0, KERNEL_SIGSET_BYTES);
}
