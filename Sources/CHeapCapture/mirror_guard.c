// mirror_guard.c: questions to the remote mirror that end where it gives up or breaks.
//
// The library asserts about names that it takes out of the target's memory, and follows them where they
// lead. In a damaged core file, or in a program that has overwritten its own memory, they are anything: it
// calls `abort`, reads an address that is not there, or calls itself until the stack is full. The handlers
// leave the question by a jump, on a stack of their own. The C standard allows that for `abort`; for a
// fault POSIX allows it where no function was interrupted that may not be, and the library's are not called
// again where one was left but with the guard around them.

#define _GNU_SOURCE
#include "remote_mirror.h"

#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <stddef.h>
#include <sys/mman.h>

// NULL while this thread asks no question.
static __thread sigjmp_buf *volatile way_out;
static __thread uint64_t failures;
static __thread int has_stack;

// What the library may end in: abort, bad addresses, traps that the compiler put where nothing should come.
static const int signals[] = {SIGABRT, SIGSEGV, SIGBUS, SIGILL, SIGTRAP, SIGFPE};
enum { SIGNAL_COUNT = sizeof signals / sizeof *signals, STACK_BYTES = 64 << 10 };
static struct sigaction before[SIGNAL_COUNT];

static void on_signal(int number, siginfo_t *info, void *context) {
  // Only what this thread did itself: SIGSEGV may be sent by anybody.
  if (way_out != NULL && (info->si_code > 0 || number == SIGABRT))
    siglongjmp(*way_out, 1);
  // Somebody else's: as if this handler were not there.
  int place = 0;
  while (place < SIGNAL_COUNT - 1 && signals[place] != number)
    place++;
  if ((before[place].sa_flags & SA_SIGINFO) != 0) {
    before[place].sa_sigaction(number, info, context);
  } else if (before[place].sa_handler != SIG_DFL && before[place].sa_handler != SIG_IGN) {
    before[place].sa_handler(number);
  } else if (number != SIGABRT || info->si_code <= 0) {
    // Behind this handler the instruction runs once more, or the signal is sent once more: to its end.
    sigaction(number, &before[place], NULL);
    if (info->si_code <= 0)
      raise(number);
  }
}

static pthread_key_t stack_key;

static void free_stack(void *stack) {
  stack_t none = {.ss_flags = SS_DISABLE};
  sigaltstack(&none, NULL);
  munmap(stack, STACK_BYTES);
}

static void install(void) {
  pthread_key_create(&stack_key, free_stack);
  struct sigaction action = {.sa_sigaction = on_signal};
  // Not masked: the way out is a jump, behind which it must arrive again.
  action.sa_flags = SA_SIGINFO | SA_NODEFER | SA_ONSTACK;
  sigemptyset(&action.sa_mask);
  for (int place = 0; place < SIGNAL_COUNT; place++)
    sigaction(signals[place], &action, &before[place]);
}

static pthread_once_t once = PTHREAD_ONCE_INIT;

// Where the thread's own stack is full, the handler needs another.
static void prepare_thread(void) {
  pthread_once(&once, install);
  if (has_stack)
    return;
  has_stack = 1;
  stack_t now;
  if (sigaltstack(NULL, &now) != 0 || (now.ss_flags & SS_DISABLE) == 0)
    return; // it has one
  void *room = mmap(NULL, STACK_BYTES, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (room == MAP_FAILED)
    return;
  stack_t own = {.ss_sp = room, .ss_size = STACK_BYTES};
  if (sigaltstack(&own, NULL) == 0)
    pthread_setspecific(stack_key, room);
  else
    munmap(room, STACK_BYTES);
}

uint64_t mg_mirror_failures(void) {
  return failures;
}

// A question and its answer; `zero` where the library gives up. The library's callbacks ask nothing.
#define ASK(type, zero, call)                                                                      \
  do {                                                                                             \
    prepare_thread();                                                                              \
    sigjmp_buf here;                                                                               \
    if (sigsetjmp(here, 0) != 0) {                                                                 \
      way_out = NULL;                                                                              \
      failures++;                                                                                  \
      return zero;                                                                                 \
    }                                                                                              \
    way_out = &here;                                                                               \
    type answer = call;                                                                            \
    way_out = NULL;                                                                                \
    return answer;                                                                                 \
  } while (0)

void *mg_mirror_create(const mg_mirror *mirror, void *reader, mg_query_function query,
                       mg_free_function free_bytes, mg_read_function read_bytes,
                       mg_string_length_function string_length, mg_symbol_function symbol) {
  ASK(void *, NULL, mirror->create(reader, query, free_bytes, read_bytes, string_length, symbol));
}

void mg_mirror_destroy(const mg_mirror *mirror, void *context, uint64_t failures_before) {
  // What a jump has left half done is not to be taken apart.
  if (failures == failures_before)
    mirror->destroy(context);
}

uint32_t mg_mirror_add_sections(const mg_mirror *mirror, void *context,
                                const mg_reflection_sections *sections) {
  ASK(uint32_t, 0, mirror->add_sections(context, *sections));
}

unsigned mg_mirror_generic_argument_count(const mg_mirror *mirror, mg_type_ref type) {
  ASK(unsigned, 0, mirror->generic_argument_count(type));
}

mg_type_ref mg_mirror_generic_argument(const mg_mirror *mirror, mg_type_ref type, unsigned index) {
  ASK(mg_type_ref, 0, mirror->generic_argument(type, index));
}

mg_type_ref mg_mirror_type_for_metadata(const mg_mirror *mirror, void *context,
                                        uintptr_t metadata) {
  ASK(mg_type_ref, 0, mirror->type_for_metadata(context, metadata));
}

mg_type_ref mg_mirror_type_for_mangled_name(const mg_mirror *mirror, void *context,
                                            const char *name, uint64_t length) {
  ASK(mg_type_ref, 0, mirror->type_for_mangled_name(context, name, length));
}

mg_type_info mg_mirror_info_for_metadata(const mg_mirror *mirror, void *context,
                                         uintptr_t metadata) {
  ASK(mg_type_info, (mg_type_info){0}, mirror->info_for_metadata(context, metadata));
}

mg_child_info mg_mirror_child_of_metadata(const mg_mirror *mirror, void *context,
                                          uintptr_t metadata, unsigned index) {
  ASK(mg_child_info, (mg_child_info){0}, mirror->child_of_metadata(context, metadata, index));
}

mg_type_info mg_mirror_info_for_instance(const mg_mirror *mirror, void *context, uintptr_t object) {
  ASK(mg_type_info, (mg_type_info){0}, mirror->info_for_instance(context, object));
}

mg_child_info mg_mirror_child_of_instance(const mg_mirror *mirror, void *context, uintptr_t object,
                                          unsigned index) {
  ASK(mg_child_info, (mg_child_info){0}, mirror->child_of_instance(context, object, index));
}

mg_type_info mg_mirror_info_for_type(const mg_mirror *mirror, void *context, mg_type_ref type) {
  ASK(mg_type_info, (mg_type_info){0}, mirror->info_for_type(context, type));
}

mg_child_info mg_mirror_child_of_type(const mg_mirror *mirror, void *context, mg_type_ref type,
                                      unsigned index) {
  ASK(mg_child_info, (mg_child_info){0}, mirror->child_of_type(context, type, index));
}

char *mg_mirror_copy_demangled_name(const mg_mirror *mirror, void *context, mg_type_ref type) {
  ASK(char *, NULL, mirror->copy_demangled_name(context, type));
}

int mg_mirror_project_enum(const mg_mirror *mirror, void *context, uint64_t address,
                           mg_type_ref type, int *case_index) {
  ASK(int, 0, mirror->project_enum(context, address, type, case_index));
}
