// twin.c: the frozen twin: a copy of the process that only sleeps, for a reader to read, or hands out its
// memory itself (serve.c).

#define _GNU_SOURCE
#include "mg_agent.h"
#include "mg_sys.h"

#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/wait.h>

enum { KERNEL_SIGSET_BYTES = 8 };

// All signals but the two that libc needs in every thread (cancellation, setuid).
#define ALL_SIGNALS (~(UINT64_C(3) << 31))

static void set_mask(uint64_t mask, uint64_t *old) {
  mg_sys4(SYS_rt_sigprocmask, SIG_SETMASK, &mask, old, KERNEL_SIGSET_BYTES);
}

// No signal in the flags: the program gets no SIGCHLD, and its wait calls don't see the child.
// Inlined, since with CLONE_VM the child goes on in the same frame and must not have returned from
// it.
MG_INLINE long copy_process(unsigned long flags) {
  return mg_sys5(SYS_clone, flags, 0, 0, 0, 0);
}

// The reader takes the twin's place in a process of its own; the twin is its parent, so that the
// program has no child that it did not make. Runs in the twin's memory until the exec.
static void run_reader(const mg_twin_plan *plan, uint32_t twin) {
  mg_sys2(SYS_prctl, PR_SET_PDEATHSIG, SIGKILL);
  if ((uint32_t)mg_sys0(SYS_getppid) != twin)
    mg_sys1(SYS_exit_group, 1);
  // The program's dispositions stay behind; those that it ignores would be inherited.
  uint64_t action[4] = {0, 0, 0, 0};
  for (int signal = 1; signal <= 64; signal++)
    mg_sys4(SYS_rt_sigaction, signal, action, 0, KERNEL_SIGSET_BYTES);
  uint64_t none = 0;
  mg_sys4(SYS_rt_sigprocmask, SIG_SETMASK, &none, 0, KERNEL_SIGSET_BYTES);
  mg_sys3(SYS_execve, plan->reader, plan->arguments, plan->environment);
  mg_sys1(SYS_exit_group, 127);
}

// Pipes and sockets of the program must not stay open because of the twin. Either may be -1.
static void close_all_but(int one, int other) {
  int low = one < other ? one : other, high = one < other ? other : one;
  if (low > 0)
    mg_sys3(SYS_close_range, 0, low - 1, 0);
  if (high > low + 1)
    mg_sys3(SYS_close_range, low + 1, high - 1, 0);
  mg_sys3(SYS_close_range, high + 1, ~0u, 0);
}

// The twin's life. System calls alone: libc's locks and process id are the program's here.
static __attribute__((noreturn)) void sleep_as_twin(const mg_twin_plan *plan, uint32_t parent) {
  mg_sys2(SYS_prctl, PR_SET_PDEATHSIG, SIGKILL);
  if ((uint32_t)mg_sys0(SYS_getppid) != parent)
    mg_sys1(SYS_exit_group, 0);
  mg_sys2(SYS_prctl, PR_SET_PTRACER, PR_SET_PTRACER_ANY);
  close_all_but(plan->channel, plan->memory);
  if (plan->channel >= 0)
    mg_sys3(SYS_fcntl, plan->channel, F_SETFD, 0); // the reader inherits it
  if (plan->reader) {
    // Standard streams that lead nowhere; the channel may have one of their numbers, and keeps it.
    long file;
    while ((file = mg_sys4(SYS_openat, AT_FDCWD, "/dev/null", O_RDWR, 0)) >= 0 && file < 3) {
    }
    if (file >= 3)
      mg_sys1(SYS_close, file);
    uint32_t twin = mg_pid();
    long reader = copy_process(CLONE_VM | CLONE_VFORK);
    if (reader == 0)
      run_reader(plan, twin);
    mg_sys1(SYS_close, plan->channel); // so that the reader's end ends with the reader
    if (plan->memory >= 0)
      mg_serve(plan->memory);
    if (reader > 0) {
      while (mg_sys4(SYS_wait4, reader, 0, __WALL, 0) == -EINTR) {
      }
    }
  } else if (plan->memory >= 0) {
    mg_serve(plan->memory);
  }
  for (;;)
    mg_sys5(SYS_ppoll, 0, 0, 0, 0, 0);
}

int mg_twin_make(const mg_twin_plan *plan) {
  uint64_t old_mask;
  set_mask(ALL_SIGNALS, &old_mask);
  uint64_t begin = mg_clock(CLOCK_MONOTONIC);
  int error = mg_threads_stop();
  if (error) {
    set_mask(old_mask, NULL);
    return -error;
  }
  mg_thread_entry *caller = mg_threads_caller();
  if (caller) {
    // The caller stands in this function: what its registers held is in the frames above.
    __builtin_unwind_init();
#if defined(__x86_64__)
    __asm__("mov %%rsp, %0" : "=r"(caller->stack_pointer));
    caller->registers[6] = (uintptr_t)__builtin_frame_address(0);
    caller->registers[7] = caller->stack_pointer;
#else
    __asm__("mov %0, sp" : "=r"(caller->stack_pointer));
#endif
    caller->pc = (uintptr_t)__builtin_return_address(0);
    // The agent's frames between the program's and here are full of old words.
    if (mg_thread.mark_stack > caller->stack_pointer) {
      caller->stack_pointer = mg_thread.mark_stack;
      caller->pc = mg_thread.mark_caller;
#if defined(__x86_64__)
      caller->registers[6] = mg_thread.mark_frame;
      caller->registers[7] = mg_thread.mark_stack;
#endif
    }
  }
  uint32_t parent = mg_pid();
  long twin = copy_process(0);
  if (twin == 0)
    sleep_as_twin(plan, parent);
  if (twin > 0)
    mg_marks_end_generation();
  mg_threads_resume();
  mg_state.pause_nanoseconds = mg_clock(CLOCK_MONOTONIC) - begin;
  set_mask(old_mask, NULL);
  return (int)twin;
}

void mg_twin_end(int twin) {
  mg_sys2(SYS_kill, twin, SIGKILL);
  while (mg_sys4(SYS_wait4, twin, 0, __WALL, 0) == -EINTR) {
  }
}
