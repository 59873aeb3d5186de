// stacks.c: what it takes to find where a block was asked for: the agent's two ways beside the unwinder of the C runtime.
//
// Built twice by scripts/bench, with frame pointers and without. Calls functions of the agent that nobody sees outside
// it, and prints a line for each way: its name, frames, nanoseconds a capture.
#include "mg_agent.h"

#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#include <unwind.h>

typedef int walk_function(void **, int);
static walk_function *unwind_backtrace;
static int rounds;

static double now(void) {
  struct timespec time;
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &time);
  return (double)time.tv_sec * 1e9 + (double)time.tv_nsec;
}

static _Unwind_Reason_Code count_frame(struct _Unwind_Context *context, void *count) {
  (void)context;
  ++*(int *)count;
  return _URC_NO_REASON;
}

// As tracked_malloc is: its own frame is not part of the stack.
static __attribute__((noinline)) size_t capture(uint32_t mode, int times) {
  mg_state.stack_mode = mode;
  uint32_t row = 0;
  for (int i = 0; i < times; i++)
    row = mg_stack_capture(__builtin_frame_address(0));
  return mg_stack_frames(row, NULL, 0);
}

static void tell(const char *name, size_t frames, double begin, int times) {
  printf("%s %zu %.2f\n", name, frames, (now() - begin) / times);
}

static __attribute__((noinline)) void measure(void) {
  capture(MG_STACKS_FAST, rounds / 10);
  double begin = now();
  size_t frames = capture(MG_STACKS_FAST, rounds);
  tell("fast", frames, begin, rounds);

  capture(MG_STACKS_FULL, rounds / 10);
  begin = now();
  frames = capture(MG_STACKS_FULL, rounds);
  tell("full", frames, begin, rounds);

  void *pcs[256];
  int count = 0;
  begin = now();
  for (int i = 0; i < rounds; i++)
    count = unwind_backtrace(pcs, 256);
  tell("unw_backtrace", (size_t)count, begin, rounds);

  int few = rounds / 100 + 1;
  begin = now();
  for (int i = 0; i < few; i++) {
    count = 0;
    _Unwind_Backtrace(count_frame, &count);
  }
  tell("_Unwind_Backtrace", (size_t)count, begin, few);
}

// Three functions that call each other, with something to keep over the call.
static int two(int depth);
static int three(int depth);
static __attribute__((noinline)) int one(int depth) {
  volatile int kept[3] = {depth, 1, 2};
  if (depth == 0)
    measure();
  else
    kept[1] = two(depth - 1);
  return kept[0] + kept[1];
}
static __attribute__((noinline)) int two(int depth) {
  volatile int kept[7] = {depth};
  if (depth == 0)
    measure();
  else
    kept[1] = three(depth - 1);
  return kept[0] + kept[1];
}
static __attribute__((noinline)) int three(int depth) {
  volatile int kept[1] = {depth};
  if (depth == 0)
    measure();
  else
    kept[0] += one(depth - 1);
  return kept[0];
}

int main(int count, char **arguments) {
  rounds = count > 1 ? atoi(arguments[1]) : 1000000;
  void *library = dlopen("libunwind.so.8", RTLD_NOW | RTLD_LOCAL);
  unwind_backtrace = library ? (walk_function *)dlsym(library, "unw_backtrace") : NULL;
  if (!unwind_backtrace || mg_prepare())
    return 1;
  mg_state.stack_mode = MG_STACKS_FULL;
  mg_stacks_load_unwinder();
  return one(22) == 0;
}
