// mirror_guard.c: questions to the remote mirror that end where it aborts.
//
// The library asserts about names that it takes out of the target's memory. In a damaged core file, or
// in a program that has overwritten its own memory, they are anything. The C standard lets a handler of
// SIGABRT leave `abort` by a jump.

#define _GNU_SOURCE
#include "remote_mirror.h"

#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <stddef.h>

static __thread sigjmp_buf *volatile way_out; // NULL while no question is asked
static __thread uint64_t failures;
static struct sigaction before;

static void on_abort(int number, siginfo_t *info, void *context) {
  if (way_out != NULL)
    siglongjmp(*way_out, 1);
  // Somebody else's: as if this handler were not there.
  if ((before.sa_flags & SA_SIGINFO) != 0)
    before.sa_sigaction(number, info, context);
  else if (before.sa_handler != SIG_DFL && before.sa_handler != SIG_IGN)
    before.sa_handler(number);
}

static void install(void) {
  struct sigaction action = {.sa_sigaction = on_abort};
  // Not masked: the way out is a jump, behind which it must arrive again.
  action.sa_flags = SA_SIGINFO | SA_NODEFER | SA_ONSTACK;
  sigemptyset(&action.sa_mask);
  sigaction(SIGABRT, &action, &before);
}

static pthread_once_t once = PTHREAD_ONCE_INIT;

uint64_t mg_mirror_failures(void) {
  return failures;
}

// A question and its answer; `zero` where the library gives up. The library's callbacks ask nothing.
#define ASK(type, zero, call)                                                                      \
  do {                                                                                             \
    pthread_once(&once, install);                                                                  \
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
