// threads.c: stopping the program's threads, where each stands, and the bounds of a stack.
//
// A thread is stopped by a real-time signal: its handler writes down the registers and waits on a
// futex. Everything here is system calls alone: a stopped thread may hold any lock of libc.

#define _GNU_SOURCE
#include "mg_agent.h"
#include "mg_sys.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <ucontext.h>

enum {
  MAX_THREADS = 1 << 16,
  ANSWER_NANOSECONDS = 100 * 1000 * 1000, // how long a thread has to answer
  SLICE_NANOSECONDS = 2 * 1000 * 1000,    // how often the missing ones are looked for
};

// What a thread's row is doing, in the low two bits; the stop's number is above.
enum { ASKED = 1, WRITING = 2, STANDING = 3 };

int mg_stop_signal;

static mg_arena entries;             // mg_thread_entry
static mg_arena states;              // _Atomic uint32_t by entry
static _Atomic uint32_t stop_number; // odd while threads stand still
static _Atomic uint32_t answers;
static _Atomic uint32_t answers_wanted;
static uint32_t entry_count;

MG_INLINE mg_thread_entry *entry(uint32_t row) {
  return (mg_thread_entry *)(void *)entries.base + row;
}
MG_INLINE _Atomic uint32_t *state(uint32_t row) {
  return (_Atomic uint32_t *)(void *)states.base + row;
}

// --- in the stopped thread ---------------------------------------------------------------------

#if defined(__x86_64__)
// Says where the kernel has put the vector registers. The processor leaves some bytes to software: the
// kernel says there whether more than the oldest part is there, and how much.
static void write_vectors(mg_thread_entry *row, const ucontext_t *context) {
  enum { OLDEST_PART = 512, MAGIC = 464, BYTES = 480 };
  const uint8_t *area = (const uint8_t *)context->uc_mcontext.fpregs;
  if (!area)
    return;
  uint32_t magic, bytes;
  memcpy(&magic, area + MAGIC, sizeof magic);
  memcpy(&bytes, area + BYTES, sizeof bytes);
  row->vector_state = (uintptr_t)area;
  row->vector_bytes = magic == 0x46505853 ? bytes : OLDEST_PART;
}
#endif

static void write_registers(mg_thread_entry *row, const ucontext_t *context) {
#if defined(__x86_64__)
  static const uint8_t order[16] = {REG_RAX, REG_RBX, REG_RCX, REG_RDX, REG_RSI, REG_RDI,
                                    REG_RBP, REG_RSP, REG_R8,  REG_R9,  REG_R10, REG_R11,
                                    REG_R12, REG_R13, REG_R14, REG_R15};
  for (int i = 0; i < 16; i++)
    row->registers[i] = (uint64_t)context->uc_mcontext.gregs[order[i]];
  row->pc = (uint64_t)context->uc_mcontext.gregs[REG_RIP];
  row->stack_pointer = (uint64_t)context->uc_mcontext.gregs[REG_RSP];
  write_vectors(row, context);
#else
  for (int i = 0; i < 16; i++)
    row->registers[i] = context->uc_mcontext.regs[i];
  row->pc = context->uc_mcontext.pc;
  row->stack_pointer = context->uc_mcontext.sp;
#endif
}

static void write_thread(mg_thread_entry *row) {
  row->thread_pointer = (uintptr_t)__builtin_thread_pointer();
  bool known = mg_thread.stack_high > 4096;
  row->stack_low = known ? mg_thread.stack_low : 0;
  row->stack_high = known ? mg_thread.stack_high : 0;
  mg_sys2(SYS_prctl, PR_GET_NAME, row->name);
}

// Whether the thread was in a system call that this signal alone ends: then the caller, if it is one of
// waits.c, makes it again.
static bool ended_a_call(const ucontext_t *context) {
#if defined(__x86_64__)
  const uint8_t *pc = (const uint8_t *)context->uc_mcontext.gregs[REG_RIP];
  if (context->uc_mcontext.gregs[REG_RAX] != -EINTR || pc[-2] != 0x0f || pc[-1] != 0x05)
    return false;
#else
  const uint32_t *pc = (const uint32_t *)context->uc_mcontext.pc;
  if (context->uc_mcontext.regs[0] != (uint64_t)-EINTR || pc[-1] != 0xd4000001)
    return false;
#endif
  // Another one that waits for this handler to return would have ended the call as well.
  uint64_t pending = 0;
  mg_sys2(SYS_rt_sigpending, &pending, sizeof pending);
  return !(pending & ~*(const uint64_t *)(const void *)&context->uc_sigmask);
}

// The handler of the stop signal.
//
// SA_ONSTACK, because a thread that has an alternative stack may have little room on its own;
// SA_RESTART, so that most calls go on; all signals are blocked, so that no other handler of the
// program runs while it is thought to stand still.
static void on_stop(int signal, siginfo_t *info, void *context) {
  (void)signal;
  uint64_t value = (uint64_t)(uintptr_t)info->si_value.sival_ptr;
  uint32_t number = (uint32_t)(value >> 32);
  uint32_t row = (uint32_t)value;
  // Anything else is not from this stop: a late signal of an earlier one, or somebody's kill.
  if (info->si_code != SI_QUEUE || (uint32_t)info->si_pid != mg_state.pid ||
      atomic_load(&stop_number) != number || row >= MAX_THREADS)
    return;
  uint32_t expected = number << 2 | ASKED;
  if (!atomic_compare_exchange_strong(state(row), &expected, number << 2 | WRITING))
    return;
  mg_thread_entry *self = entry(row);
  write_registers(self, context);
  write_thread(self);
  // A reallocation in flight: see interpose.c.
  uint64_t *moving = mg_thread.moving_cell;
  bool restored = moving && mg_cell_load(moving) == 0;
  if (restored)
    mg_cell_store(moving, mg_thread.moving_value);
  self->stopped = 1;
  atomic_store(state(row), number << 2 | STANDING);
  if (atomic_fetch_add(&answers, 1) + 1 >= atomic_load(&answers_wanted))
    mg_futex_wake(&answers, 1);
  while (atomic_load(&stop_number) == number)
    mg_futex_wait(&stop_number, number, 0);
  if (restored && mg_cell_load(moving) == mg_thread.moving_value)
    mg_cell_store(moving, 0);
  mg_thread.was_stopped_in_call = ended_a_call(context);
}

// --- in the thread that stops them -------------------------------------------------------------

static void install_handler(void) {
  extern int __sigaction(int, const struct sigaction *, struct sigaction *);
  struct sigaction action = {.sa_flags = SA_SIGINFO | SA_RESTART | SA_ONSTACK};
  action.sa_sigaction = on_stop;
  sigfillset(&action.sa_mask);
  struct sigaction old;
  // A program that goes through all signals may have taken it.
  if (__sigaction(mg_stop_signal, NULL, &old) == 0 &&
      (!(old.sa_flags & SA_SIGINFO) || old.sa_sigaction != on_stop))
    __sigaction(mg_stop_signal, &action, NULL);
}

bool mg_threads_start(void) {
  extern int __libc_allocate_rtsig(int);
  if (!mg_arena_reserve(&entries, MAX_THREADS * sizeof(mg_thread_entry)) ||
      !mg_arena_reserve(&states, MAX_THREADS * sizeof(uint32_t)) ||
      !mg_arena_commit(&states, MAX_THREADS * sizeof(uint32_t)) ||
      !mg_arena_commit(&entries, 256 * sizeof(mg_thread_entry)))
    return false;
  mg_state.threads = (uintptr_t)entries.base;
  // From the end of the range that programs share out among themselves: SIGRTMAX is one less then.
  int signal = __libc_allocate_rtsig(0);
  if (signal < 0)
    return false;
  mg_stop_signal = signal;
  install_handler();
  mg_masks_let_through(); // whoever started the program may have blocked it
  return true;
}

static bool ask(uint32_t tid, uint32_t number) {
  uint32_t row = entry_count;
  if (row >= MAX_THREADS || !mg_arena_commit(&entries, (row + 1) * sizeof(mg_thread_entry)))
    return false;
  *entry(row) = (mg_thread_entry){.tid = tid};
  atomic_store(state(row), number << 2 | ASKED);
  siginfo_t info;
  memset(&info, 0, sizeof info);
  info.si_code = SI_QUEUE;
  info.si_pid = (int)mg_state.pid;
  info.si_value.sival_ptr = (void *)(uintptr_t)((uint64_t)number << 32 | row);
  long result;
  // EAGAIN: the user has no room for queued signals at the moment.
  for (int tries = 0; tries < 20; tries++) {
    result = mg_sys4(SYS_rt_tgsigqueueinfo, mg_state.pid, tid, mg_stop_signal, &info);
    if (result != -EAGAIN)
      break;
    mg_sys0(SYS_sched_yield);
  }
  if (result == -ESRCH)
    return false; // it has ended
  entry_count = row + 1;
  return true;
}

static bool is_known(uint32_t tid, uint32_t *hint) {
  // Rows and /proc/self/task are in the same order, mostly.
  for (uint32_t i = 0; i < entry_count; i++) {
    uint32_t row = *hint + i < entry_count ? *hint + i : *hint + i - entry_count;
    if (entry(row)->tid == tid) {
      *hint = row + 1 < entry_count ? row + 1 : 0;
      return true;
    }
  }
  return false;
}

// The agent's own thread, which is no thread of the program.
static _Atomic uint32_t agent_tid;

void mg_threads_set_agent_thread(uint32_t tid) {
  atomic_store(&agent_tid, tid);
}

struct directory_entry {
  uint64_t inode;
  int64_t offset;
  uint16_t bytes;
  uint8_t type;
  char name[];
};

// Whether /proc counts as this process does. In a PID namespace of its own with the /proc of another it
// does not: its lists have numbers that no system call here takes.
static bool proc_has_own_numbers(void) {
  char text[24];
  long count = mg_sys4(SYS_readlinkat, AT_FDCWD, "/proc/self", text, sizeof text - 1);
  uint32_t pid = 0;
  for (long i = 0; i < count && text[i] >= '0' && text[i] <= '9'; i++)
    pid = pid * 10 + (uint32_t)(text[i] - '0');
  return pid == mg_state.pid;
}

// The number that a thread of the list has for itself: the last one of its NSpid. 0 where it has ended.
static uint32_t own_number(int folder, const char *name) {
  char path[32], text[2048];
  size_t bytes = strlen(name);
  if (bytes > sizeof path - sizeof "/status")
    return 0;
  memcpy(path, name, bytes);
  memcpy(path + bytes, "/status", sizeof "/status");
  long file = mg_sys4(SYS_openat, folder, path, O_RDONLY | O_CLOEXEC, 0);
  if (file < 0)
    return 0;
  long count = mg_sys3(SYS_read, file, text, sizeof text - 1);
  mg_sys1(SYS_close, file);
  text[count > 0 ? count : 0] = 0;
  const char *field = strstr(text, "\nNSpid:");
  if (!field)
    return 0;
  uint32_t number = 0;
  for (const char *c = field + sizeof "\nNSpid:" - 1; *c && *c != '\n'; c++) {
    if (*c >= '0' && *c <= '9')
      number = number * 10 + (uint32_t)(*c - '0');
    else
      number = 0;
  }
  return number;
}

// Asks the threads that are not known yet; how many they were.
static uint32_t ask_new_threads(int folder, bool has_own_numbers, uint32_t self, uint32_t number) {
  uint32_t before = entry_count, hint = 0;
  char buffer[4096] __attribute__((aligned(8)));
  mg_sys3(SYS_lseek, folder, 0, 0);
  long count;
  while ((count = mg_sys3(SYS_getdents64, folder, buffer, sizeof buffer)) > 0) {
    for (long at = 0; at < count;) {
      struct directory_entry *item = (struct directory_entry *)(void *)(buffer + at);
      at += item->bytes;
      uint32_t tid = 0;
      for (const char *c = item->name; *c >= '0' && *c <= '9'; c++)
        tid = tid * 10 + (uint32_t)(*c - '0');
      if (tid && !has_own_numbers)
        tid = own_number(folder, item->name);
      if (tid && tid != self && tid != atomic_load(&agent_tid) && !is_known(tid, &hint))
        ask(tid, number);
    }
  }
  return entry_count - before;
}

// The main thread may have ended by pthread_exit: it stays in the list, without memory or registers,
// until the others have ended too. No other thread does.
static bool is_ended_main_thread(uint32_t tid) {
  if (tid != mg_state.pid)
    return false;
  long file = mg_sys4(SYS_openat, AT_FDCWD, "/proc/self/stat", O_RDONLY | O_CLOEXEC, 0);
  if (file < 0)
    return false;
  // NUMBER (NAME) STATE; a name has 15 bytes at most, and may have parentheses in it.
  char text[64];
  long count = mg_sys3(SYS_read, file, text, sizeof text);
  mg_sys1(SYS_close, file);
  while (count > 2 && text[count - 1] != ')')
    count--;
  return count > 2 && text[count + 1] == 'Z';
}

static bool is_gone(uint32_t tid) {
  return mg_sys3(SYS_tgkill, mg_state.pid, tid, 0) == -ESRCH || is_ended_main_thread(tid);
}

// Waits for rows from `first` on. A thread that ends or does not answer is given up.
static void wait_for_answers(uint32_t first, uint32_t number) {
  uint64_t deadline = mg_clock(CLOCK_MONOTONIC) + ANSWER_NANOSECONDS;
  for (;;) {
    uint32_t seen = atomic_load(&answers);
    uint32_t missing = 0;
    bool late = mg_clock(CLOCK_MONOTONIC) > deadline;
    for (uint32_t row = first; row < entry_count; row++) {
      uint32_t now = atomic_load(state(row));
      if (now == (number << 2 | WRITING)) {
        missing++;
      } else if (now == (number << 2 | ASKED)) {
        if ((late || is_gone(entry(row)->tid)) &&
            atomic_compare_exchange_strong(state(row), &now, 0))
          continue;
        missing++;
      }
    }
    if (!missing)
      return;
    atomic_store(&answers_wanted, seen + missing);
    mg_futex_wait(&answers, seen, SLICE_NANOSECONDS);
  }
}

int mg_threads_stop(void) {
  // Without the list of threads nobody knows their stacks, and what they hold would look leaked.
  long folder =
      mg_sys4(SYS_openat, AT_FDCWD, "/proc/self/task", O_RDONLY | O_DIRECTORY | O_CLOEXEC, 0);
  if (folder < 0)
    return (int)-folder;
  install_handler();
  uint32_t number = (atomic_load(&stop_number) + 1) & 0x3fffffff;
  number |= 1;
  entry_count = 0;
  atomic_store(&answers, 0);
  atomic_store(&answers_wanted, UINT32_MAX);
  uint32_t self = mg_tid();
  // The caller is a thread of the program too, unless it is the agent's own.
  if (self != atomic_load(&agent_tid)) {
    mg_thread_entry *row = entry(0);
    *row = (mg_thread_entry){.tid = self, .stopped = 1};
    write_thread(row);
    entry_count = 1;
  }
  atomic_store(&stop_number, number);
  bool has_own_numbers = proc_has_own_numbers();
  // A thread that was running may have made new ones: again, until there is none.
  for (;;) {
    uint32_t first = entry_count;
    if (!ask_new_threads((int)folder, has_own_numbers, self, number))
      break;
    wait_for_answers(first, number);
  }
  mg_sys1(SYS_close, folder);
  // Rows of threads that ended before they stood still are of no use.
  uint32_t kept = 0;
  for (uint32_t row = 0; row < entry_count; row++) {
    if (entry(row)->stopped || !is_gone(entry(row)->tid)) {
      if (kept != row)
        *entry(kept) = *entry(row);
      kept++;
    }
  }
  mg_state.thread_count = kept;
  return 0;
}

mg_thread_entry *mg_threads_caller(void) {
  bool has = mg_state.thread_count > 0 && entry(0)->tid == mg_tid();
  return has ? entry(0) : NULL;
}

void mg_threads_resume(void) {
  atomic_fetch_add(&stop_number, 1);
  mg_futex_wake(&stop_number, INT32_MAX);
}

// --- stack bounds ------------------------------------------------------------------------------

// What the main thread's stack begins with; the loader sets it.
extern void *__libc_stack_end;

static uintptr_t main_thread_pointer;

void mg_threads_remember_main(void) {
  main_thread_pointer = (uintptr_t)__builtin_thread_pointer();
}

bool mg_stack_bounds(uintptr_t *low, uintptr_t *high) {
  uintptr_t pointer = (uintptr_t)__builtin_thread_pointer();
  if (pointer == main_thread_pointer) {
    // The kernel keeps at least this much free below the main stack, whatever its limit is.
    uintptr_t most = (uintptr_t)128 << 20;
    struct rlimit limit = {0, 0};
    mg_sys4(SYS_prlimit64, 0, RLIMIT_STACK, 0, &limit);
    *high = (uintptr_t)__libc_stack_end;
    *low = *high - (limit.rlim_cur < most ? limit.rlim_cur : most);
    return true;
  }
  // The C library puts a thread's control block at the top of its stack. pthread_getattr_np would
  // say the same, but it allocates with the thread's lock held: this may be that very allocation.
#if defined(__x86_64__)
  *high = pointer;
#else
  *high = pointer & ~(uintptr_t)15;
#endif
  mg_mapping mapping;
  *low = mg_mapping_find(pointer - 1, &mapping) ? mapping.low : 0;
  return *low != 0;
}
