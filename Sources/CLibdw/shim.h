// libdw and libelf, as Debian's libdw-dev and libelf-dev install them, and the runtime's demangler.
#include <dwarf.h>
#include <elfutils/libdw.h>
#include <elfutils/libdwelf.h>
#include <elfutils/libdwfl.h>
#include <gelf.h>
#include <libelf.h>
#include <stddef.h>
#include <stdint.h>

// Exported by the Swift runtime, dynamic or static, which has no header for it. Returns memory for
// free(), or null for a name that is not Swift's.
char *swift_demangle(const char *name, size_t length, char *output, size_t *outputSize,
                     uint32_t flags);
