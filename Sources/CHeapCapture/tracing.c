#define _GNU_SOURCE
#include "tracing.h"

#include <elf.h>
#include <errno.h>
#include <signal.h>
#include <sys/ptrace.h>
#include <sys/uio.h>
#include <sys/user.h>
#include <sys/wait.h>

int mg_trace_seize(pid_t thread) {
  return ptrace(PTRACE_SEIZE, thread, 0, 0) == 0 ? 0 : errno;
}

int mg_trace_interrupt(pid_t thread) {
  return ptrace(PTRACE_INTERRUPT, thread, 0, 0) == 0 ? 0 : errno;
}

int mg_trace_has_stopped(pid_t thread, int *signal, int *is_group_stop) {
  int status = 0;
  *signal = 0;
  *is_group_stop = 0;
  pid_t answer;
  do
    answer = waitpid(thread, &status, __WALL | WNOHANG);
  while (answer < 0 && errno == EINTR);
  if (answer == 0)
    return 0;
  if (answer < 0 || !WIFSTOPPED(status))
    return -1;
  if (status >> 16 == PTRACE_EVENT_STOP)
    // The interruption itself stops with SIGTRAP; any other signal is a stop that was there before.
    *is_group_stop = WSTOPSIG(status) != SIGTRAP;
  else if (status >> 16 == 0)
    *signal = WSTOPSIG(status);
  return 1;
}

int mg_trace_registers(pid_t thread, mg_thread_registers *registers) {
#if defined(__x86_64__)
  struct user_regs_struct all;
  struct iovec place = {&all, sizeof all};
  if (ptrace(PTRACE_GETREGSET, thread, NT_PRSTATUS, &place) != 0)
    return errno;
  if (place.iov_len < sizeof all)
    return ENOTSUP; // a program of 32 bits
  const uint64_t general[16] = {all.rax, all.rbx, all.rcx, all.rdx, all.rsi, all.rdi,
                                all.rbp, all.rsp, all.r8,  all.r9,  all.r10, all.r11,
                                all.r12, all.r13, all.r14, all.r15};
  for (int i = 0; i < 16; i++)
    registers->general[i] = general[i];
  registers->pc = all.rip;
  registers->thread_pointer = all.fs_base;
  return 0;
#else
  (void)thread;
  (void)registers;
  return ENOTSUP;
#endif
}

int mg_trace_vectors(pid_t thread, void *room, size_t *bytes) {
#if defined(__x86_64__)
  struct iovec place = {room, *bytes};
  // A processor without XSAVE has the oldest part alone.
  if (ptrace(PTRACE_GETREGSET, thread, NT_X86_XSTATE, &place) != 0 &&
      ptrace(PTRACE_GETREGSET, thread, NT_PRFPREG, &place) != 0)
    return errno;
  *bytes = place.iov_len;
  return 0;
#else
  (void)thread;
  (void)room;
  (void)bytes;
  return ENOTSUP;
#endif
}

int mg_trace_detach(pid_t thread, int signal) {
  return ptrace(PTRACE_DETACH, thread, 0, (void *)(intptr_t)signal) == 0 ? 0 : errno;
}
