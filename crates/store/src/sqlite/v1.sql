CREATE TABLE host (
    id            INTEGER PRIMARY KEY,
    name          TEXT NOT NULL,
    configuration TEXT NOT NULL, -- digest of its processors, memory, kernel; empty where unknown
    kernel        TEXT,
    cpu           TEXT,
    UNIQUE (name, configuration)
) STRICT;

CREATE TABLE run (
    id            INTEGER PRIMARY KEY,
    digest        TEXT NOT NULL UNIQUE,
    finished_ms   INTEGER NOT NULL,
    saved_ms      INTEGER NOT NULL,
    tool          TEXT NOT NULL,
    format        TEXT NOT NULL,
    command       TEXT,
    host          INTEGER REFERENCES host (id),
    suite         TEXT,
    partial       INTEGER NOT NULL,
    title         TEXT NOT NULL,
    configuration TEXT NOT NULL,
    devices       TEXT NOT NULL,
    iops          REAL,
    bandwidth     REAL,
    latency       REAL,
    note          TEXT
) STRICT;
CREATE INDEX run_finished ON run (finished_ms);
CREATE INDEX run_configuration ON run (configuration);
CREATE INDEX run_host ON run (host);
CREATE INDEX run_suite ON run (suite) WHERE suite IS NOT NULL;

-- Apart from `run`, so that a list need not step over the documents.
CREATE TABLE document (
    run   INTEGER PRIMARY KEY REFERENCES run (id) ON DELETE CASCADE,
    bytes BLOB NOT NULL
) STRICT;

CREATE TABLE device (
    id            INTEGER PRIMARY KEY,
    identity      TEXT NOT NULL, -- serial number and the like; HOST:NAME where there is none
    configuration TEXT NOT NULL, -- digest of its settings; empty where unknown
    name          TEXT NOT NULL,
    model         TEXT,
    size_bytes    INTEGER,
    UNIQUE (identity, configuration, name)
) STRICT;
CREATE INDEX device_name ON device (name);

CREATE TABLE run_device (
    device INTEGER NOT NULL REFERENCES device (id),
    run    INTEGER NOT NULL REFERENCES run (id) ON DELETE CASCADE,
    PRIMARY KEY (device, run)
) STRICT, WITHOUT ROWID;
CREATE INDEX run_device_run ON run_device (run);

CREATE TABLE tag (
    name TEXT NOT NULL,
    run  INTEGER NOT NULL REFERENCES run (id) ON DELETE CASCADE,
    PRIMARY KEY (name, run)
) STRICT, WITHOUT ROWID;
CREATE INDEX tag_run ON tag (run);

CREATE TABLE metric (
    run              INTEGER NOT NULL REFERENCES run (id) ON DELETE CASCADE,
    job              TEXT NOT NULL,
    direction        TEXT NOT NULL,
    name             TEXT NOT NULL,
    value            REAL NOT NULL,
    higher_is_better INTEGER NOT NULL
) STRICT;
CREATE INDEX metric_run ON metric (run);
