def try_all(machine, table, full, seed):
    pass


def try_fuzzers(machine, table, full, seed):
    pass
