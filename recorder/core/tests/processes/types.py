"""Prints the types of what two pickled dumps hold, as Python itself reads them: the first names the keys that the second lacks."""

import json
import pickle
import sys


def shape(value):
    if value is None:
        return "none"
    if isinstance(value, bool):
        return "bool"
    if isinstance(value, list):
        return "list of " + "|".join(sorted({shape(item) for item in value}))
    if isinstance(value, tuple):
        return "(" + ", ".join(shape(item) for item in value) + ")"
    return type(value).__name__


def of_records(records):
    types = {}
    for record in records:
        for key, value in record.items():
            types.setdefault(key, set()).add(shape(value))
    return {key: sorted(found) for key, found in types.items()}


def of_dump(path):
    with open(path, "rb") as file:
        dump = pickle.load(file)
    return {
        "keys": {key: [shape(value)] for key, value in dump.items() if isinstance(value, str)}
        | {key: [type(value).__name__] for key, value in dump.items() if not isinstance(value, str)},
        "pg_config": of_records(dump["pg_config"].values()),
        "pg_status": of_records(dump["pg_status"].values()),
        "entries": of_records(dump["entries"]),
    }


print(json.dumps([of_dump(path) for path in sys.argv[1:]]))
