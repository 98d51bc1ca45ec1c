CREATE TABLE run (
    id            INTEGER PRIMARY KEY,
    digest        TEXT NOT NULL UNIQUE,
    finished_ms   INTEGER NOT NULL,
    saved_ms      INTEGER NOT NULL,
    tool          TEXT NOT NULL,
    format        TEXT NOT NULL,
    command       TEXT,
    host          TEXT,
    suite         TEXT,
    partial       INTEGER NOT NULL,
    title         TEXT NOT NULL,
    configuration TEXT NOT NULL,
    note          TEXT,
    document      BLOB NOT NULL
) STRICT;
CREATE INDEX run_finished ON run (finished_ms);
CREATE INDEX run_configuration ON run (configuration);

CREATE TABLE device (
    run  INTEGER NOT NULL REFERENCES run (id) ON DELETE CASCADE,
    name TEXT NOT NULL,
    PRIMARY KEY (run, name)
) STRICT, WITHOUT ROWID;
CREATE INDEX device_name ON device (name);

CREATE TABLE tag (
    run  INTEGER NOT NULL REFERENCES run (id) ON DELETE CASCADE,
    name TEXT NOT NULL,
    PRIMARY KEY (run, name)
) STRICT, WITHOUT ROWID;
CREATE INDEX tag_name ON tag (name);

CREATE TABLE metric (
    run              INTEGER NOT NULL REFERENCES run (id) ON DELETE CASCADE,
    job              TEXT NOT NULL,
    direction        TEXT NOT NULL,
    name             TEXT NOT NULL,
    value            REAL NOT NULL,
    higher_is_better INTEGER NOT NULL
) STRICT;
CREATE INDEX metric_run ON metric (run);
