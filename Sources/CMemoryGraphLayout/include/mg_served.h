// mg_served.h: how a frozen twin serves its own memory where no other process may read it.
//
// Twin and reader talk over a socket of the kind SOCK_SEQPACKET. A message is whole or not there at all,
// so that a range that can't be read never leaves half of an answer behind. The reader sends one
// request and takes messages until one has no bytes; it may then send the next. When its end is closed
// the twin serves no more.
#pragma once

#include <stdint.h>

enum {
  MG_SERVE_MEMORY = 1, // `count` bytes from `address`
  MG_SERVE_MAPS = 2,   // the twin's /proc/self/maps
  MG_SERVE_STATM = 3,  // its /proc/self/statm
  MG_SERVE_EXE = 4,    // where its /proc/self/exe leads
};

// The bytes that one message carries at most.
#define MG_SERVED_PIECE 65536

typedef struct mg_served_request {
  uint32_t kind; // MG_SERVE_...
  uint32_t pad;
  uint64_t address;
  uint64_t count;
} mg_served_request;

// Before the bytes of each message.
typedef struct mg_served_header {
  uint32_t count; // 0: the answer ends here
  int32_t
      error; // why it ends: 0 where it is whole, else an errno; EFAULT for memory that is not there
} mg_served_header;
