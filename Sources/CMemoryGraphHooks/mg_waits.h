// mg_waits.h: what the files that make waiting calls again share (waits.c, socketwaits.c).
#pragma once

#include "mg_agent.h"
#include "mg_sys.h"

#include <errno.h>
#include <limits.h>
#include <time.h>

/// Before a call: nothing has ended it yet.
MG_INLINE void mg_wait_begins(void) {
  mg_thread.was_stopped_in_call = 0;
  atomic_signal_fence(memory_order_seq_cst);
}

/// After a call: whether it ended because of a mark alone.
MG_INLINE bool mg_wait_ended_by_mark(int error) {
  return MG_UNLIKELY(error == EINTR) && mg_thread.was_stopped_in_call;
}

/// A limit as a moment; UINT64_MAX where there is none.
static inline uint64_t mg_moment_after(const struct timespec *limit) {
  if (!limit || limit->tv_sec > INT_MAX)
    return UINT64_MAX;
  return mg_clock(CLOCK_MONOTONIC) + (uint64_t)limit->tv_sec * 1000000000 +
         (uint64_t)limit->tv_nsec;
}

/// The time until a moment, 0 where it is past.
static inline struct timespec mg_time_until(uint64_t moment) {
  uint64_t now = mg_clock(CLOCK_MONOTONIC), rest = now < moment ? moment - now : 0;
  return (struct timespec){(time_t)(rest / 1000000000), (long)(rest % 1000000000)};
}
