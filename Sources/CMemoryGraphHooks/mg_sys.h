// mg_sys.h: system calls without libc: they touch no errno, are no cancellation points, and work in
// a twin, where libc's idea of the process is stale. Each returns its result or -errno.
#pragma once

#include <linux/futex.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/syscall.h>
#include <time.h>

#if defined(__x86_64__)
static inline __attribute__((always_inline)) long mg_sys6(long number, long a, long b, long c,
                                                          long d, long e, long f) {
  register long r10 __asm__("r10") = d;
  register long r8 __asm__("r8") = e;
  register long r9 __asm__("r9") = f;
  long result;
  __asm__ volatile("syscall"
                   : "=a"(result)
                   : "a"(number), "D"(a), "S"(b), "d"(c), "r"(r10), "r"(r8), "r"(r9)
                   : "rcx", "r11", "memory");
  return result;
}
#elif defined(__aarch64__)
static inline __attribute__((always_inline)) long mg_sys6(long number, long a, long b, long c,
                                                          long d, long e, long f) {
  register long x8 __asm__("x8") = number;
  register long x0 __asm__("x0") = a;
  register long x1 __asm__("x1") = b;
  register long x2 __asm__("x2") = c;
  register long x3 __asm__("x3") = d;
  register long x4 __asm__("x4") = e;
  register long x5 __asm__("x5") = f;
  __asm__ volatile("svc 0"
                   : "+r"(x0)
                   : "r"(x8), "r"(x1), "r"(x2), "r"(x3), "r"(x4), "r"(x5)
                   : "memory");
  return x0;
}
#else
#error "memory-graph knows x86-64 and arm64"
#endif

#define mg_sys0(n) mg_sys6((n), 0, 0, 0, 0, 0, 0)
#define mg_sys1(n, a) mg_sys6((n), (long)(a), 0, 0, 0, 0, 0)
#define mg_sys2(n, a, b) mg_sys6((n), (long)(a), (long)(b), 0, 0, 0, 0)
#define mg_sys3(n, a, b, c) mg_sys6((n), (long)(a), (long)(b), (long)(c), 0, 0, 0)
#define mg_sys4(n, a, b, c, d) mg_sys6((n), (long)(a), (long)(b), (long)(c), (long)(d), 0, 0)
#define mg_sys5(n, a, b, c, d, e)                                                                  \
  mg_sys6((n), (long)(a), (long)(b), (long)(c), (long)(d), (long)(e), 0)

/// Waits while a word has a value; a timeout (nanoseconds, relative) of 0 is for ever.
static inline long mg_futex_wait(const _Atomic uint32_t *word, uint32_t value, uint64_t timeout) {
  struct {
    int64_t seconds;
    int64_t nanoseconds;
  } time = {(int64_t)(timeout / 1000000000u), (int64_t)(timeout % 1000000000u)};
  return mg_sys6(SYS_futex, (long)word, FUTEX_WAIT_PRIVATE, value, timeout ? (long)&time : 0, 0, 0);
}

static inline void mg_futex_wake(const _Atomic uint32_t *word, int count) {
  mg_sys6(SYS_futex, (long)word, FUTEX_WAKE_PRIVATE, count, 0, 0, 0);
}

static inline uint64_t mg_clock(int clock) {
  struct {
    int64_t seconds;
    int64_t nanoseconds;
  } time = {0, 0};
  mg_sys2(SYS_clock_gettime, clock, &time);
  return (uint64_t)time.seconds * 1000000000u + (uint64_t)time.nanoseconds;
}

static inline uint32_t mg_pid(void) {
  return (uint32_t)mg_sys0(SYS_getpid);
}

static inline uint32_t mg_tid(void) {
  return (uint32_t)mg_sys0(SYS_gettid);
}
