// libdw and libelf, as Debian's libdw-dev and libelf-dev install them.
#include <dwarf.h>
#include <elfutils/libdw.h>
#include <elfutils/libdwfl.h>
#include <elfutils/libdwelf.h>
#include <gelf.h>
#include <libelf.h>
