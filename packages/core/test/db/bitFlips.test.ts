import { randomInt } from 'node:crypto';
import { readFileSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import type { Database } from 'better-sqlite3';
import { describe, expect } from 'vitest';
import { backup } from '../../src/db/backup.ts';
import { openReadOnly } from '../../src/db/createDatabase.ts';
import { EngineStore } from '../../src/engine/gates/EngineStore.ts';
import { isDevsError } from '../../src/errors/DevsError.ts';
import { EventBus } from '../../src/events/events.ts';
import {
  aFullFile,
  INPUT_TEXT,
  noise,
  RUN,
  type StoredTexts,
  storedTexts,
} from '../../src/state/__tests__/aFullFile.ts';
import { aQuestion, HASH } from '../../src/state/__tests__/aQuestion.ts';
import { decideAndLog } from '../../src/state/__tests__/decideAndLog.ts';
import { CheckpointPersister } from '../../src/state/CheckpointPersister.ts';
import { channelsApart, type OrderedCheckpoint } from '../../src/state/checkpoints/checkpointRecords.ts';
import { GraphCheckpointStore } from '../../src/state/checkpoints/GraphCheckpointStore.ts';
import { doctor } from '../../src/state/doctor/doctor.ts';
import { HitlSessionStore } from '../../src/state/gates/HitlSessionStore.ts';
import { ThreadInputStore } from '../../src/state/threads/ThreadInputStore.ts';
import { ThreadStore } from '../../src/state/threads/ThreadStore.ts';
import { test } from '../support/fixtures.ts';
import { howMany } from '../support/howMany.ts';
import { tried } from '../support/tried.ts';

const FLIPS = howMany('DEVS_BIT_FLIPS', 60);
const ROW_FLIPS = Math.ceil(FLIPS / 3);
const CHECKPOINTS = 12;

// Each column of bytes that has a SHA-256 beside it.
const STORED_VALUES = `
  SELECT bytes FROM state_blobs UNION ALL SELECT checkpoint FROM checkpoints UNION ALL SELECT metadata FROM checkpoints
  UNION ALL SELECT value FROM checkpoint_writes WHERE value IS NOT NULL
  UNION ALL SELECT value FROM checkpoint_blobs WHERE value IS NOT NULL
  UNION ALL SELECT value FROM thread_inputs
  UNION ALL SELECT CAST(serialized_state AS BLOB) FROM langgraph_checkpoints`;

/** Where in the file each byte of a stored value lies. */
function valueBytes(dbPath: string, select = STORED_VALUES): readonly number[] {
  const db = openReadOnly({ dbPath });
  const values = db.prepare<[], Buffer>(select).pluck().all();
  db.close();
  const file = readFileSync(dbPath);
  // The last occurrence: a page that was split keeps old bytes, and its new pages lie behind it.
  return values
    .map((value) => ({ value, at: file.lastIndexOf(value) }))
    .filter(({ at }) => at >= 0) // A value on several pages is not in one piece.
    .flatMap(({ value, at }) => Array.from({ length: value.length }, (_, n) => at + n));
}

function flipped(file: Buffer, offset: number, bit: number): Buffer {
  const copy = Buffer.from(file);
  copy.writeUInt8(copy.readUInt8(offset) ^ (1 << bit), offset);
  return copy;
}

/** What a reader gets for each stored text: the text, or a refusal. */
function readAll(db: Database): readonly string[] {
  const store = new GraphCheckpointStore(db);
  const journal = new CheckpointPersister(db);
  const checkpoints = Array.from({ length: CHECKPOINTS }, (_, n) => storedTexts(n + 1)).flatMap(
    (texts, n) => {
      const key = { ...RUN, checkpointId: texts.checkpointId };
      return [
        read(() => store.load(key)?.checkpoint.bytes),
        read(() => store.load(key)?.metadata.bytes),
        ...['text', 'small'].map((channel) =>
          read(() => store.loadChannel(RUN, { channel, version: String(n + 1) })?.bytes),
        ),
        ...[0, 1].map((idx) =>
          read(() => store.loadWrites(key).find((write) => write.idx === idx)?.value.bytes),
        ),
        read(() => Buffer.from(JSON.stringify(journal.loadForTask(`task-${n + 1}`)[0]?.state))),
      ];
    },
  );
  return [...checkpoints, read(() => new ThreadInputStore(db).require(RUN.threadId).bytes)];
}

function read(load: () => Uint8Array | undefined): string {
  try {
    return Buffer.from(load() ?? new Uint8Array()).toString();
  } catch (error) {
    if (isDevsError(error, 'STATE_CORRUPT')) return 'refused';
    throw error;
  }
}

const CHECKPOINT_TEXTS = Array.from(
  { length: CHECKPOINTS },
  (_, n): StoredTexts => storedTexts(n + 1),
).flatMap(({ checkpoint, metadata, channel, small, writes, turn }) => [
  checkpoint,
  metadata,
  channel,
  small,
  ...writes,
  JSON.stringify(turn),
]);

const EXPECTED = [...CHECKPOINT_TEXTS, INPUT_TEXT];

const ADA = { kind: 'human', id: 'ada' } as const;

/** What people and programs asked of a run, decided and open. */
function withPeople(db: Database): void {
  aFullFile(db);
  const threads = new ThreadStore(db);
  threads.updatePolicies('run-1', {
    gates: { design: 'human', dag: 'auto' },
    budget: { usd: 5 },
    note: noise(200, 1),
  });
  threads.signal('run-1', { id: 'signal-1', kind: 'cancel', payload: { why: noise(100, 2) } });
  const sessions = new HitlSessionStore(db);
  for (const n of [1, 2, 3]) {
    const about = {
      interruptId: `interrupt-${n}`,
      questionKey: `question-${n}`,
      question: { text: noise(300, n) },
    };
    const { session } = sessions.openForInterrupt(
      aQuestion({ ...about, evidence: { measured: noise(100, n + 9) } }),
    );
    if (n === 3) continue;
    const decision = { approved: n === 1, feedback: noise(80, n + 20) };
    decideAndLog(db, { id: session.id, artifactHash: HASH, decision, principal: ADA }, sessions);
  }
}

// Columns that lie side by side in their rows: from the first text on, whatever is NULL left out.
const ROWS_OF_PEOPLE = `
  SELECT CAST(status || kind || coalesce(thread_id, '') || coalesce(interrupt_id, '') || coalesce(question_key, '')
              || coalesce(checkpoint_id, '') || coalesce(artifact_hash, '') || coalesce(question_json, '')
              || coalesce(evidence_json, '') || coalesce(decision_json, '') || coalesce(principal_kind, '')
              || coalesce(principal_id, '') AS BLOB) FROM hitl_sessions
  UNION ALL SELECT CAST(thread_id || project_id || coalesce(brief_sha256, '') || graph_fingerprint || policies_json
                        || status AS BLOB) FROM threads
  UNION ALL SELECT CAST(kind || payload_json AS BLOB) FROM signals
  UNION ALL SELECT CAST(body_json || prev_sha256 || sha256 AS BLOB) FROM hitl_decisions
  UNION ALL SELECT CAST(sha256 AS BLOB) FROM decision_log_end`;

/** What the engine makes of a file, as far as people's requests go: all of it, or its refusal. */
function engineReads(db: Database): string {
  try {
    const { threads, sessions } = new EngineStore(db, { events: new EventBus() });
    const runs = threads.list();
    const ids = runs.map(({ threadId }) => threadId);
    const declared = runs.map(({ threadId, policies, status }) => ({ threadId, policies, status }));
    const policies = ids.map((id) => ['gates', 'budget', 'note'].map((name) => threads.policyOf(id, name)));
    const signals = ids.map((id) => threads.signals.pending(id));
    const asked = ['interrupt-1', 'interrupt-2', 'interrupt-3'].map((id) =>
      sessions.findByInterrupt('run-1', id),
    );
    const answers = sessions.listDecided('run-1', 'design_approval');
    return JSON.stringify({ declared, policies, signals, asked, answers, open: sessions.listOpen() });
  } catch (error) {
    if (isDevsError(error, 'STATE_CORRUPT')) return 'refused';
    throw error;
  }
}

describe('a bit that flips in what people asked and decided', () => {
  test(`changes nothing, or engine and doctor both say so (${ROW_FLIPS} flips)`, {
    timeout: 60_000 + ROW_FLIPS * 300,
  }, async ({ annotate, db, dbPath, task }) => {
    withPeople(db);
    const copy = join(dirname(dbPath), 'copy.sqlite');
    backup(db, copy);
    const offsets = valueBytes(copy, ROWS_OF_PEOPLE);
    expect(offsets.length).toBeGreaterThan(3000);
    const sound = readFileSync(copy);
    const reading = (): string => {
      const viewer = openReadOnly({ dbPath: copy });
      const text = engineReads(viewer);
      viewer.close();
      return text;
    };
    const expected = reading();
    expect(expected).not.toBe('refused');

    const tally = { flips: 0, refused: 0, reported: 0, silent: [] as string[] };
    for (let n = 0; n < ROW_FLIPS; n += 1) {
      const offset = offsets[randomInt(offsets.length)] ?? 0;
      writeFileSync(copy, flipped(sound, offset, n % 8));
      tally.flips += 1;
      const text = reading();
      const viewer = openReadOnly({ dbPath: copy });
      const isReported = !doctor(viewer).ok;
      viewer.close();
      if (text === 'refused') tally.refused += 1;
      if (isReported) tally.reported += 1;
      const differs = text !== expected;
      if (differs && !(text === 'refused' && isReported))
        tally.silent.push(`${offset}, bit ${n % 8}: ${text}`);
    }
    tried(task, { ways: tally.flips, through: tally.silent.length });
    await annotate(JSON.stringify(tally));
    expect(tally.silent).toEqual([]);
    expect(tally.refused).toBeGreaterThan(ROW_FLIPS / 2);
    expect(tally.reported).toBe(ROW_FLIPS);
  });
});

// The columns that rows are found by, which lie side by side in them, and in the indexes.
const KEYS = `
  SELECT CAST(thread_id || checkpoint_ns || version || channel || type AS BLOB) FROM checkpoint_blobs
  UNION ALL SELECT CAST(thread_id || checkpoint_ns || checkpoint_id || task_id AS BLOB) FROM checkpoint_writes
  UNION ALL SELECT CAST(thread_id || checkpoint_ns || checkpoint_id AS BLOB) FROM checkpoints
  UNION ALL SELECT CAST(thread_id || lg_task_id || name AS BLOB) FROM agent_steps
  UNION ALL SELECT CAST(thread_id || type AS BLOB) FROM thread_inputs`;

/** What each checkpoint of a file is made of, as far as it can be found: all of it, or a refusal. */
function checkpointsIn(db: Database): ReadonlyMap<string, string> {
  const store = new GraphCheckpointStore(db);
  const every = { threadId: null, checkpointNs: null, checkpointId: null, beforeSeq: null, beforeId: null };
  const all = (): ReadonlyMap<string, string> =>
    new Map(
      store.loadPage(every, CHECKPOINTS).map((stored) => [stored.checkpointId, contentOf(stored, store)]),
    );
  try {
    return all();
  } catch (error) {
    if (isDevsError(error, 'STATE_CORRUPT')) return new Map();
    throw error;
  }
}

function contentOf(stored: OrderedCheckpoint, store: GraphCheckpointStore): string {
  try {
    const { channel_versions: versions } = JSON.parse(Buffer.from(stored.checkpoint.bytes).toString()) as {
      readonly channel_versions: Readonly<Record<string, number>>;
    };
    const writes = store.loadWrites(stored).toSorted((left, right) => left.idx - right.idx);
    return JSON.stringify([stored, store.loadChannels(stored, channelsApart(versions, {})), writes]);
  } catch (error) {
    if (isDevsError(error, 'STATE_CORRUPT')) return 'refused';
    throw error;
  }
}

describe('a bit that flips in the key of a row', () => {
  test(`is reported by doctor, and no checkpoint is read without what it is made of (${ROW_FLIPS} flips)`, {
    timeout: 60_000 + ROW_FLIPS * 300,
  }, async ({ annotate, db, dbPath, task }) => {
    aFullFile(db, { checkpoints: CHECKPOINTS });
    const copy = join(dirname(dbPath), 'copy.sqlite');
    backup(db, copy);
    const offsets = valueBytes(copy, KEYS);
    expect(offsets.length).toBeGreaterThan(1000);
    const sound = readFileSync(copy);
    const expected = checkpointsIn(db);
    expect(expected.size).toBe(CHECKPOINTS);
    expect([...expected.values()]).not.toContain('refused');

    const tally = { flips: 0, reported: 0, refused: 0, used: 0 };
    for (let n = 0; n < ROW_FLIPS; n += 1) {
      writeFileSync(copy, flipped(sound, offsets[randomInt(offsets.length)] ?? 0, n % 8));
      tally.flips += 1;
      const viewer = openReadOnly({ dbPath: copy });
      if (!doctor(viewer).ok) tally.reported += 1;
      const found = checkpointsIn(viewer);
      viewer.close();
      if ([...found.values()].includes('refused')) tally.refused += 1;
      const isUsed = [...found].some(([id, text]) => text !== 'refused' && text !== expected.get(id));
      if (isUsed) tally.used += 1;
    }
    tried(task, { ways: tally.flips, through: tally.used });
    await annotate(JSON.stringify(tally));
    expect(tally.used).toBe(0);
    expect(tally.refused).toBeGreaterThan(0);
    expect(tally.reported).toBeGreaterThanOrEqual(ROW_FLIPS * 0.98);
  });
});

describe('a bit that flips in a stored value', () => {
  test(`is reported by doctor, and the value is never used (${FLIPS} flips)`, {
    timeout: 60_000 + FLIPS * 300,
  }, async ({ annotate, db, dbPath, task }) => {
    aFullFile(db, { checkpoints: CHECKPOINTS });
    const copy = join(dirname(dbPath), 'copy.sqlite');
    backup(db, copy); // One file without a log, in which every page is in use.
    const offsets = valueBytes(copy);
    expect(offsets.length).toBeGreaterThan(20_000);
    const sound = readFileSync(copy);

    const tally = { flips: 0, reported: 0, refused: 0, used: 0 };
    const draw = noise(FLIPS * 5, 99);
    for (let n = 0; n < FLIPS; n += 1) {
      const random = Number.parseInt(draw.slice(n * 5, n * 5 + 5), 32);
      const offset = offsets[random % offsets.length] ?? 0;
      writeFileSync(copy, flipped(sound, offset, n % 8));
      tally.flips += 1;
      const viewer = openReadOnly({ dbPath: copy });
      if (!doctor(viewer).ok) tally.reported += 1;
      const texts = readAll(viewer);
      viewer.close();
      if (texts.includes('refused')) tally.refused += 1;
      if (texts.some((text, index) => text !== 'refused' && text !== EXPECTED[index])) tally.used += 1;
    }
    tried(task, { ways: tally.flips, through: tally.used });
    await annotate(JSON.stringify(tally));
    expect(tally.used).toBe(0);
    expect(tally.reported).toBeGreaterThanOrEqual(FLIPS * 0.98);
  });
});
