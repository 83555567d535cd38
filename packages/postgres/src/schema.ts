// The tables, step by step, and the rights of a role on them.

import { setTimeout as sleep } from 'node:timers/promises';
import { DevsError } from '@devs/core';
import type { ClientBase } from 'pg';
import { bossSchema } from './jobs/BossJobs.ts';
import { BEGIN } from './server/pool.ts';
import { quoteIdentifier } from './server/Tables.ts';

/** One step of the schema, in the order they are made; `$` is the schema's quoted name. One that was released is never edited. */
const STEPS: readonly string[] = [
  `
CREATE TABLE $.runs (
  run_id text COLLATE "C" PRIMARY KEY,
  birth uuid NOT NULL,
  tenant text NOT NULL,
  graph text NOT NULL,
  fingerprint text NOT NULL,
  queue text NOT NULL,
  schema_version integer NOT NULL,
  priority integer NOT NULL DEFAULT 0,
  status text NOT NULL,
  reason text,
  title text,
  view text NOT NULL DEFAULT 'null',
  epoch bigint NOT NULL DEFAULT 0,
  lease uuid,
  settled uuid,
  owner text,
  job_id uuid,
  head_seq bigint NOT NULL DEFAULT 0,
  base_seq bigint NOT NULL DEFAULT 0,
  wake_seq bigint NOT NULL DEFAULT 0,
  handled_seq bigint NOT NULL DEFAULT 0,
  until timestamptz(3),
  created_at timestamptz(3) NOT NULL DEFAULT now(),
  updated_at timestamptz(3) NOT NULL DEFAULT now(),
  ended_at timestamptz(3)
) WITH (fillfactor = 60);
CREATE INDEX runs_by_age ON $.runs (created_at, run_id);
CREATE INDEX runs_by_tenant ON $.runs (tenant, created_at);
CREATE INDEX runs_by_owner ON $.runs (owner) WHERE owner IS NOT NULL;
CREATE INDEX runs_due ON $.runs (until) WHERE until IS NOT NULL;

CREATE TABLE $.gates (
  session_id text COLLATE "C" PRIMARY KEY,
  run_id text COLLATE "C" NOT NULL REFERENCES $.runs ON DELETE CASCADE,
  tenant text NOT NULL,
  kind text NOT NULL,
  artifact_hash text NOT NULL,
  gate text NOT NULL,
  status text NOT NULL CHECK (status IN ('open', 'decided', 'closed')),
  opened_at timestamptz(3) NOT NULL,
  decided_at timestamptz(3)
);
CREATE INDEX gates_open ON $.gates (opened_at, session_id) WHERE status = 'open';
CREATE INDEX gates_of_tenant ON $.gates (tenant, opened_at) WHERE status = 'open';
CREATE INDEX gates_of_run ON $.gates (run_id);

CREATE TABLE $.signals (
  run_id text COLLATE "C" NOT NULL REFERENCES $.runs ON DELETE CASCADE,
  seq bigint NOT NULL,
  id text NOT NULL,
  signal text NOT NULL,
  created_at timestamptz NOT NULL DEFAULT now(),
  taken_at timestamptz,
  PRIMARY KEY (run_id, seq),
  UNIQUE (run_id, id)
);

CREATE TABLE $.tenants (
  tenant text PRIMARY KEY,
  cap integer,
  running integer NOT NULL DEFAULT 0
);

CREATE TABLE $.workers (
  worker_id text PRIMARY KEY,
  lock_key bigint NOT NULL,
  host text NOT NULL,
  pid integer NOT NULL,
  slots integer NOT NULL,
  graphs jsonb NOT NULL,
  draining boolean NOT NULL DEFAULT false,
  started_at timestamptz NOT NULL DEFAULT now(),
  seen_at timestamptz NOT NULL DEFAULT now()
);

CREATE TABLE $.run_changes (
  run_id text COLLATE "C" NOT NULL REFERENCES $.runs ON DELETE CASCADE,
  seq bigint NOT NULL,
  bytes bytea NOT NULL,
  PRIMARY KEY (run_id, seq)
) WITH (autovacuum_vacuum_scale_factor = 0.02);
ALTER TABLE $.run_changes ALTER COLUMN bytes SET STORAGE EXTERNAL;

CREATE TABLE $.run_parts (
  run_id text COLLATE "C" NOT NULL REFERENCES $.runs ON DELETE CASCADE,
  lease uuid NOT NULL,
  seq bigint NOT NULL,
  part integer NOT NULL,
  bytes bytea NOT NULL,
  PRIMARY KEY (run_id, lease, seq, part)
);
ALTER TABLE $.run_parts ALTER COLUMN bytes SET STORAGE EXTERNAL;

CREATE TABLE $.run_bases (
  run_id text COLLATE "C" NOT NULL REFERENCES $.runs ON DELETE CASCADE,
  seq bigint NOT NULL,
  part integer NOT NULL,
  bytes bytea NOT NULL,
  PRIMARY KEY (run_id, seq, part)
);
ALTER TABLE $.run_bases ALTER COLUMN bytes SET STORAGE EXTERNAL;
`,
  // What is told of a run that nobody follows is little: a commit that notifies waits for every other one that does.
  `
ALTER TABLE $.runs ADD COLUMN followed_until timestamptz, ADD COLUMN listed_seq bigint NOT NULL DEFAULT 0;

CREATE INDEX signals_taken ON $.signals (taken_at) WHERE taken_at IS NOT NULL;

CREATE FUNCTION $.tell_news() RETURNS trigger LANGUAGE plpgsql AS '
BEGIN
  IF octet_length(NEW.run_id) < 8000 THEN PERFORM pg_notify(TG_TABLE_SCHEMA || ''_news'', NEW.run_id); END IF;
  RETURN NULL;
END';

CREATE TRIGGER news_of_new AFTER INSERT ON $.runs FOR EACH ROW EXECUTE FUNCTION $.tell_news();
CREATE TRIGGER news AFTER UPDATE ON $.runs FOR EACH ROW WHEN (
  OLD.wake_seq <> NEW.wake_seq OR OLD.ended_at IS DISTINCT FROM NEW.ended_at OR (NEW.followed_until > now() AND
    (OLD.head_seq, OLD.status, OLD.owner) IS DISTINCT FROM (NEW.head_seq, NEW.status, NEW.owner))
) EXECUTE FUNCTION $.tell_news();
CREATE TRIGGER news_of_new AFTER INSERT ON $.gates FOR EACH ROW EXECUTE FUNCTION $.tell_news();
CREATE TRIGGER news AFTER UPDATE ON $.gates FOR EACH ROW WHEN (OLD.status <> NEW.status) EXECUTE FUNCTION $.tell_news();
`,
  `
CREATE TABLE $.file_templates (
  version integer PRIMARY KEY,
  bytes bytea NOT NULL
);
`,
  // `deaths`: processes that died while they had the run, since it made progress. `leases`: what a process says that it holds.
  `
ALTER TABLE $.runs ADD COLUMN deaths integer NOT NULL DEFAULT 0, ADD COLUMN claimed_at timestamptz;
ALTER TABLE $.workers ADD COLUMN leases uuid[], ADD COLUMN leases_at timestamptz;
CREATE INDEX runs_to_drive ON $.runs (run_id)
  WHERE owner IS NULL AND ended_at IS NULL AND (status IN ('created', 'running') OR wake_seq > handled_seq);
`,
  // Labels find runs. `labels`: JSON, NULL for a run of an older release until it is settled. `label`: the SHA-256 of one.
  `
ALTER TABLE $.runs ADD COLUMN labels text;
CREATE INDEX runs_unlabelled ON $.runs (run_id) WHERE labels IS NULL;
CREATE INDEX runs_of_tenant ON $.runs (tenant, created_at, run_id);

CREATE TABLE $.run_labels (
  label bytea NOT NULL,
  created_at timestamptz(3) NOT NULL,
  run_id text COLLATE "C" NOT NULL REFERENCES $.runs ON DELETE CASCADE,
  PRIMARY KEY (label, created_at, run_id)
);
CREATE INDEX run_labels_of_run ON $.run_labels (run_id, label);
`,
  // One row counts positions and is locked until the commit: a reader sees positions in order.
  `
CREATE TABLE $.gate_events (
  position bigint PRIMARY KEY,
  run_id text COLLATE "C" NOT NULL REFERENCES $.runs ON DELETE CASCADE,
  event text NOT NULL
);
CREATE INDEX gate_events_of_run ON $.gate_events (run_id);
CREATE TABLE $.gate_event_count (position bigint NOT NULL);
INSERT INTO $.gate_event_count VALUES (0);
`,
  // Queues of a graph in the order in which its shapes came: workers of a newer one look after the runs of an older one.
  `
CREATE TABLE $.graphs (
  queue text PRIMARY KEY,
  graph text NOT NULL,
  seq bigint GENERATED ALWAYS AS IDENTITY
);
INSERT INTO $.graphs (queue, graph) SELECT queue, min(graph) FROM $.runs GROUP BY queue ORDER BY min(created_at);
`,
  // The metadata of a run was changed in its row, and the file of the run has the old one.
  `
ALTER TABLE $.runs ADD COLUMN relabelled boolean NOT NULL DEFAULT false;
`,
  // Deliveries of webhooks. `position` is that of `gate_events`; a delivered event leaves its row.
  `
CREATE TABLE $.webhook_targets (
  target text COLLATE "C" PRIMARY KEY,
  position bigint NOT NULL DEFAULT 0,
  since timestamptz(3) NOT NULL
);
CREATE TABLE $.webhook_deliveries (
  target text COLLATE "C" NOT NULL,
  position bigint NOT NULL,
  run_id text COLLATE "C" NOT NULL REFERENCES $.runs ON DELETE CASCADE,
  event text NOT NULL,
  attempts integer NOT NULL DEFAULT 0,
  first_at timestamptz(3),
  next_at timestamptz(3) NOT NULL DEFAULT 'epoch',
  given_up_at timestamptz(3),
  error text,
  PRIMARY KEY (target, position)
);
CREATE INDEX webhook_deliveries_to_send ON $.webhook_deliveries (target, run_id, position) WHERE given_up_at IS NULL;
CREATE INDEX webhook_deliveries_of_run ON $.webhook_deliveries (run_id);
`,
  // Schedules that start runs. `firing_at`: a process starts the run of this firing, or has died with it.
  `
CREATE TABLE $.schedules (
  id text COLLATE "C" PRIMARY KEY,
  graph text NOT NULL,
  times text NOT NULL,
  given text NOT NULL,
  created_at timestamptz(3) NOT NULL,
  next_at timestamptz(3),
  firing_at timestamptz(3),
  last_at timestamptz(3),
  last_run text,
  error text
);
CREATE INDEX schedules_due ON $.schedules (graph, next_at);
`,
  // Lists read a page or the open runs. Ended runs are counted by a row per end, which the leader adds up. A counter in one row
  // would make all ends wait for each other.
  `
CREATE INDEX runs_open ON $.runs (status, created_at, run_id) INCLUDE (tenant, queue) WHERE ended_at IS NULL;
CREATE INDEX runs_open_of_tenant ON $.runs (tenant, status, created_at, run_id) WHERE ended_at IS NULL;
CREATE INDEX runs_ended ON $.runs (status, created_at, run_id) WHERE ended_at IS NOT NULL;
CREATE INDEX runs_ended_of_tenant ON $.runs (tenant, status, created_at, run_id) WHERE ended_at IS NOT NULL;
CREATE INDEX runs_of_graph ON $.runs (left(fingerprint, 16), created_at, run_id);
CREATE INDEX runs_by_change ON $.runs (updated_at);
DROP INDEX $.runs_by_tenant;

CREATE TABLE $.run_counts (
  tenant text NOT NULL,
  status text NOT NULL,
  n bigint NOT NULL
) WITH (autovacuum_vacuum_scale_factor = 0.02);

CREATE FUNCTION $.count_ended() RETURNS trigger LANGUAGE plpgsql AS '
BEGIN
  IF TG_OP <> ''INSERT'' AND OLD.ended_at IS NOT NULL THEN
    INSERT INTO $.run_counts (tenant, status, n) VALUES (OLD.tenant, OLD.status, -1);
  END IF;
  IF TG_OP <> ''DELETE'' AND NEW.ended_at IS NOT NULL THEN
    INSERT INTO $.run_counts (tenant, status, n) VALUES (NEW.tenant, NEW.status, 1);
  END IF;
  RETURN NULL;
END';
CREATE FUNCTION $.count_none() RETURNS trigger LANGUAGE plpgsql AS 'BEGIN DELETE FROM $.run_counts; RETURN NULL; END';

CREATE TRIGGER counted_new AFTER INSERT ON $.runs FOR EACH ROW WHEN (NEW.ended_at IS NOT NULL)
  EXECUTE FUNCTION $.count_ended();
CREATE TRIGGER counted AFTER UPDATE ON $.runs FOR EACH ROW WHEN (
  (OLD.ended_at IS NULL) <> (NEW.ended_at IS NULL) OR (NEW.ended_at IS NOT NULL AND OLD.status <> NEW.status)
) EXECUTE FUNCTION $.count_ended();
CREATE TRIGGER counted_gone AFTER DELETE ON $.runs FOR EACH ROW WHEN (OLD.ended_at IS NOT NULL)
  EXECUTE FUNCTION $.count_ended();
CREATE TRIGGER counted_none AFTER TRUNCATE ON $.runs FOR EACH STATEMENT EXECUTE FUNCTION $.count_none();

-- What has ended is deleted after some time, if a worker says so: its id is known for as long again.
ALTER TABLE $.runs ADD COLUMN open_children integer NOT NULL DEFAULT 0;
ALTER TABLE $.workers ADD COLUMN retention_ms bigint;
CREATE INDEX runs_by_end ON $.runs (ended_at, run_id) WHERE ended_at IS NOT NULL;
CREATE TABLE $.runs_not_kept (
  run_id text COLLATE "C" PRIMARY KEY,
  forget_at timestamptz NOT NULL
) WITH (autovacuum_vacuum_scale_factor = 0.02);
CREATE INDEX runs_not_kept_until ON $.runs_not_kept (forget_at);

INSERT INTO $.run_counts (tenant, status, n)
  SELECT tenant, status, count(*) FROM $.runs WHERE ended_at IS NOT NULL GROUP BY tenant, status;
`,
  // `due_by`: the time that `until` is, as the run's file counts time, ms since the Unix epoch. `slots`: of a worker, that the
  // file takes. `failures`: drives that have failed, since one did not; `given_up`: since when the run is a dead letter. `run_starts`: what the file of a run
  // without a base is made of, with the template of that version.
  `
ALTER TABLE $.runs ADD COLUMN due_by double precision, ADD COLUMN slots integer NOT NULL DEFAULT 1;

ALTER TABLE $.runs ADD COLUMN failures integer NOT NULL DEFAULT 0, ADD COLUMN given_up timestamptz(3);
UPDATE $.runs SET given_up = coalesce(ended_at, now()) WHERE status = 'dead_letter';
CREATE INDEX runs_given_up ON $.runs (given_up, run_id) WHERE given_up IS NOT NULL;

CREATE TABLE $.run_starts (
  run_id text COLLATE "C" PRIMARY KEY REFERENCES $.runs ON DELETE CASCADE,
  version integer NOT NULL,
  bytes bytea NOT NULL
);
`,
  // `begun`: whether the process that has the run counts as having begun it, so that its death counts; `early_deaths`: those that
  // do not, since the run made progress.
  `
ALTER TABLE $.runs ADD COLUMN begun boolean NOT NULL DEFAULT true, ADD COLUMN early_deaths integer NOT NULL DEFAULT 0;
`,
];

/** How many steps this release has. */
export const SCHEMA_STEPS = STEPS.length;

/**
 * Steps of the oldest release that works with these tables. Earlier ones than this do not ask. If older workers can work with the steps
 * of a release, the release leaves the number as it is. Otherwise it sets the number to its own.
 */
const OLDEST_STEPS = STEPS.length;

/** Stores the oldest release that works with the tables. */
const oldestSql = (name: string): string => `
ALTER TABLE ${name}.schema_version ADD COLUMN IF NOT EXISTS oldest integer NOT NULL DEFAULT ${OLDEST_STEPS};
UPDATE ${name}.schema_version SET oldest = ${OLDEST_STEPS}`;

/** Of the migrations of one schema, among all sessions of the server. */
const LOCK = 0x64657673;

/**
 * Returns the SQL that `migrate` executes on an empty schema.
 *
 * @param steps - Of an older release.
 */
export function schemaSql(schema: string, steps: number = STEPS.length): string {
  const name = quoteIdentifier(schema);
  const version = `CREATE TABLE ${name}.schema_version (version integer NOT NULL);\nINSERT INTO ${name}.schema_version VALUES (${steps});${steps === STEPS.length ? `${oldestSql(name)};` : ''}`;
  const made = STEPS.slice(0, steps).map((step) => step.replaceAll('$', name));
  return [`CREATE SCHEMA ${name};`, ...made, version].join('\n');
}

/** How long a step waits for a lock, ms: statements queue behind it. */
const LOCK_MS = 2000;
/** Between two tries, and how many there are. */
const [LOCK_GAP_MS, LOCK_TRIES] = [1000, 20];

/**
 * Brings the schema up to this release's, one step after the other. Several may try at the same time, and workers of an older
 * release may execute runs meanwhile.
 *
 * @throws DevsError `STATE_BUSY` where transactions of others keep a table locked; finished steps stay.
 */
export async function migrateSchema(client: ClientBase, schema: string): Promise<void> {
  for (let tries = 1; ; ) {
    try {
      if (await migrateStep(client, schema)) return;
    } catch (error) {
      if (Reflect.get(Object(error), 'code') !== '55P03') throw error;
      if (tries === LOCK_TRIES) throw lockedTables(schema, error);
      tries += 1;
      await sleep(LOCK_GAP_MS);
    }
  }
}

const lockedTables = (schema: string, cause: unknown): DevsError =>
  new DevsError(`The tables of schema ${schema} are locked by other transactions.`, {
    code: 'STATE_BUSY',
    remedy: 'End long transactions (pg_stat_activity lists them), then run devs migrate again.',
    context: { schema },
    cause,
  });

/** Applies the next step in its own transaction. True after the last one. */
async function migrateStep(client: ClientBase, schema: string): Promise<boolean> {
  const name = quoteIdentifier(schema);
  await client.query(BEGIN);
  try {
    await client.query('SELECT pg_advisory_xact_lock($1)', [LOCK]);
    await client.query(`SET LOCAL lock_timeout = ${LOCK_MS}`);
    await client.query(`CREATE SCHEMA IF NOT EXISTS ${name}`);
    await client.query(`CREATE TABLE IF NOT EXISTS ${name}.schema_version (version integer NOT NULL)`);
    const { rows } = await client.query<{ version: number }>(`SELECT version FROM ${name}.schema_version`);
    const version = rows[0]?.version ?? 0;
    const step = STEPS[version];
    if (step !== undefined) await client.query(step.replaceAll('$', name));
    if (rows.length === 0) await client.query(`INSERT INTO ${name}.schema_version (version) VALUES (0)`);
    if (step !== undefined)
      await client.query(`UPDATE ${name}.schema_version SET version = $1`, [version + 1]);
    if (version + 1 === STEPS.length) await client.query(oldestSql(name));
    await client.query('COMMIT');
    return version + 1 >= STEPS.length;
  } catch (error) {
    await client.query('ROLLBACK');
    throw error;
  }
}

/** What a process that runs runs does to each table; it makes none. */
export const RIGHTS: Readonly<Record<string, readonly string[]>> = {
  schema_version: ['SELECT'],
  runs: ['SELECT', 'INSERT', 'UPDATE', 'DELETE'],
  run_labels: ['SELECT', 'INSERT', 'DELETE'],
  run_counts: ['SELECT', 'INSERT', 'DELETE'],
  runs_not_kept: ['SELECT', 'INSERT', 'UPDATE', 'DELETE'],
  gates: ['SELECT', 'INSERT', 'UPDATE'],
  signals: ['SELECT', 'INSERT', 'UPDATE', 'DELETE'],
  gate_events: ['SELECT', 'INSERT'],
  gate_event_count: ['SELECT', 'UPDATE'],
  webhook_targets: ['SELECT', 'INSERT', 'UPDATE'],
  webhook_deliveries: ['SELECT', 'INSERT', 'UPDATE', 'DELETE'],
  schedules: ['SELECT', 'INSERT', 'UPDATE', 'DELETE'],
  tenants: ['SELECT', 'INSERT', 'UPDATE'],
  workers: ['SELECT', 'INSERT', 'UPDATE', 'DELETE'],
  run_changes: ['SELECT', 'INSERT', 'DELETE'],
  run_parts: ['SELECT', 'INSERT', 'UPDATE', 'DELETE'],
  run_bases: ['SELECT', 'INSERT', 'DELETE'],
  run_starts: ['SELECT', 'INSERT', 'DELETE'],
  file_templates: ['SELECT', 'INSERT'],
  graphs: ['SELECT', 'INSERT'],
};

/**
 * Returns the SQL that grants a role the rights of workers, commands and programs. The role cannot create tables: its
 * processes set `migrate: false`.
 */
export function rightsSql(schema: string, role: string): string {
  const [tables, jobs, to] = [
    quoteIdentifier(schema),
    quoteIdentifier(bossSchema(schema)),
    quoteIdentifier(role),
  ];
  return [
    `GRANT USAGE ON SCHEMA ${tables}, ${jobs} TO ${to};`,
    ...Object.entries(RIGHTS).map(
      ([table, rights]) => `GRANT ${rights.join(', ')} ON ${tables}.${table} TO ${to};`,
    ),
    `GRANT SELECT, INSERT, UPDATE, DELETE ON ALL TABLES IN SCHEMA ${jobs} TO ${to};`,
    `GRANT EXECUTE ON ALL FUNCTIONS IN SCHEMA ${jobs} TO ${to};`,
  ].join('\n');
}

/** @throws DevsError `CONFIG_INVALID` naming what the role may not. */
export async function assertRights(client: ClientBase, schema: string): Promise<void> {
  const wanted = Object.entries(RIGHTS).flatMap(([table, rights]) =>
    rights.map((right) => ({ table, right })),
  );
  const { rows } = await client.query<{ missing: string; role: string }>(
    `SELECT string_agg(w.privilege || ' on ' || w.name, ', ') AS missing, current_user AS role
     FROM unnest($1::text[], $2::text[]) AS w (name, privilege)
     WHERE NOT has_table_privilege($3 || '.' || w.name, w.privilege)`,
    [wanted.map(({ table }) => table), wanted.map(({ right }) => right), quoteIdentifier(schema)],
  );
  const { missing, role } = rows[0] ?? { missing: null, role: '' };
  if (missing === null) return;
  throw new DevsError(`The role ${role} lacks privileges that runs need: ${missing}.`, {
    code: 'CONFIG_INVALID',
    remedy: 'Have the owner of the tables run the SQL that `rightsSql` returns.',
    context: { role },
  });
}
