// SQLite, for exports as a database.
#include <sqlite3.h>
