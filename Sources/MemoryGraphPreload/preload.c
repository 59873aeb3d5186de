// MemoryGraphPreload: the agent as a library to preload: CMemoryGraphHooks, and the moment before main.

#define _GNU_SOURCE
#include "memory_graph.h"

#include <dlfcn.h>

__attribute__((visibility("hidden"))) void mg_main_begins(void);

typedef int (*main_function)(int, char **, char **);
typedef int (*start_function)(main_function, int, char **, void (*)(void), void (*)(void),
                              void (*)(void), void *);

// The C library's function that calls main: all libraries are initialised when the program calls it.
MG_PUBLIC int __libc_start_main(main_function main, int count, char **arguments,
                                void (*initialise)(void), void (*finish)(void),
                                void (*finish_loader)(void), void *stack_end);

int __libc_start_main(main_function main, int count, char **arguments, void (*initialise)(void),
                      void (*finish)(void), void (*finish_loader)(void), void *stack_end) {
  mg_main_begins();
  start_function start = (start_function)dlsym(RTLD_NEXT, "__libc_start_main");
  return start(main, count, arguments, initialise, finish, finish_loader, stack_end);
}
