#define _GNU_SOURCE
#include "large_stack.h"

#include <pthread.h>
#include <signal.h>
#include <stdint.h>

size_t mg_own_stack_size(void) {
  pthread_attr_t attributes;
  if (pthread_getattr_np(pthread_self(), &attributes) != 0)
    return SIZE_MAX;
  void *low;
  size_t bytes;
  if (pthread_attr_getstack(&attributes, &low, &bytes) != 0)
    bytes = SIZE_MAX;
  pthread_attr_destroy(&attributes);
  return bytes;
}

typedef struct work {
  void (*body)(void *context);
  void *context;
} work;

static void *run(void *argument) {
  work *own = argument;
  own->body(own->context);
  return NULL;
}

bool mg_call_on_stack(size_t bytes, void (*body)(void *context), void *context) {
  work own = {body, context};
  pthread_attr_t attributes;
  pthread_attr_init(&attributes);
  pthread_attr_setstacksize(&attributes, bytes);
  pthread_t thread;
  int error = pthread_create(&thread, &attributes, run, &own);
  pthread_attr_destroy(&attributes);
  if (error != 0)
    return false;
  sigset_t all, before;
  sigfillset(&all);
  pthread_sigmask(SIG_SETMASK, &all, &before);
  pthread_join(thread, NULL);
  pthread_sigmask(SIG_SETMASK, &before, NULL);
  return true;
}
