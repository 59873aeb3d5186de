// zlib, for the checksums of snapshots.
#include <zlib.h>
