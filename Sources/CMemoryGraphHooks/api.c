// api.c: the functions of memory_graph.h: which copy of the agent is meant, and whether it is at
// work.

#include "memory_graph.h"
#include "mg_agent.h"

#include <errno.h>

const mg_api *mg_other_api;

// The frame of a function here is given on, so it must still be there: no tail calls.
#define KEEP_FRAME __attribute__((disable_tail_calls))

// The tables exist, in this process. Recording need not have been started.
static int be_ready(void) {
  return mg_prepare();
}

int memory_graph_start(void) {
  return mg_other_api ? mg_other_api->start() : mg_start();
}

// Says where the stack of the program ends and the agent's begins. The registers that a function keeps for its caller
// are the caller's; what else lies in this frame is the agent's, and as full of old words as the frames below.
#if defined(__x86_64__) && defined(__clang__)
// All five of them are saved where __builtin_unwind_init is, and lie directly below the frame's own address: rbx, r12 to r15.
#define STACK_POINTER(place) (place) = (uintptr_t)__builtin_frame_address(0) - 5 * sizeof(uintptr_t)
#elif defined(__x86_64__)
#define STACK_POINTER(place) __asm__("mov %%rsp, %0" : "=r"(place))
#else
#define STACK_POINTER(place) __asm__("mov %0, sp" : "=r"(place))
#endif
#define NOTE_CALLER()                                                                              \
  do {                                                                                             \
    __builtin_unwind_init();                                                                       \
    STACK_POINTER(mg_thread.mark_stack);                                                           \
    mg_thread.mark_frame = (uintptr_t)__builtin_frame_address(0);                                  \
    mg_thread.mark_caller = (uintptr_t)__builtin_return_address(0);                                \
  } while (0)

KEEP_FRAME int memory_graph_mark(const char *name) {
  if (mg_other_api)
    return mg_other_api->mark(name);
  int error = be_ready();
  if (error)
    return error;
  NOTE_CALLER();
  error = mg_mark(name);
  mg_thread.mark_stack = 0;
  return error;
}

KEEP_FRAME int memory_graph_snapshot(const char *path) {
  if (mg_other_api)
    return mg_other_api->snapshot(path);
  int error = be_ready();
  if (error)
    return error;
  NOTE_CALLER();
  error = mg_snapshot(path);
  mg_thread.mark_stack = 0;
  return error;
}

KEEP_FRAME int memory_graph_register(const void *object, const char *name) {
  if (mg_other_api)
    return mg_other_api->register_object(object, name);
  int error = be_ready();
  return error ? error : mg_register(object, name, __builtin_frame_address(0));
}

KEEP_FRAME int memory_graph_register_resource(const void *resource, const char *type,
                                              size_t bytes) {
  if (mg_other_api)
    return mg_other_api->register_resource(resource, type, bytes);
  int error = be_ready();
  return error ? error : mg_register_resource(resource, type, bytes, __builtin_frame_address(0));
}

int memory_graph_unregister(const void *registered) {
  if (mg_other_api)
    return mg_other_api->unregister(registered);
  int error = be_ready();
  return error ? error : mg_unregister(registered);
}

int memory_graph_add_strong_edge(const void *from, const void *to, const char *label) {
  if (mg_other_api)
    return mg_other_api->add_strong_edge(from, to, label);
  int error = be_ready();
  return error ? error : mg_add_strong_edge(from, to, label);
}

int memory_graph_remove_strong_edge(const void *from, const void *to, const char *label) {
  if (mg_other_api)
    return mg_other_api->remove_strong_edge(from, to, label);
  int error = be_ready();
  return error ? error : mg_remove_strong_edge(from, to, label);
}

const char *memory_graph_problem(void) {
  return mg_other_api ? mg_other_api->problem() : mg_problem();
}

const mg_api mg_own_api = {
    .magic = MG_STATE_MAGIC,
    .start = memory_graph_start,
    .mark = memory_graph_mark,
    .snapshot = memory_graph_snapshot,
    .register_object = memory_graph_register,
    .register_resource = memory_graph_register_resource,
    .unregister = memory_graph_unregister,
    .add_strong_edge = memory_graph_add_strong_edge,
    .remove_strong_edge = memory_graph_remove_strong_edge,
    .problem = memory_graph_problem,
};
