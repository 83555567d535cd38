import { readFileSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import type { Database } from 'better-sqlite3';
import { describe, expect } from 'vitest';
import { backup } from '../../src/db/backup.ts';
import { openReadOnly } from '../../src/db/createDatabase.ts';
import { isDevsError } from '../../src/errors/DevsError.ts';
import {
  aFullFile,
  INPUT_TEXT,
  noise,
  RUN,
  type StoredTexts,
  storedTexts,
} from '../../src/state/__tests__/aFullFile.ts';
import { CheckpointPersister } from '../../src/state/CheckpointPersister.ts';
import { doctor } from '../../src/state/doctor.ts';
import { GraphCheckpointStore } from '../../src/state/GraphCheckpointStore.ts';
import { ThreadInputStore } from '../../src/state/ThreadInputStore.ts';
import { test } from '../support/fixtures.ts';
import { howMany } from '../support/howMany.ts';

const FLIPS = howMany('DEVS_BIT_FLIPS', 120);
const CHECKPOINTS = 12;

// Each column of bytes that has a SHA-256 beside it.
const STORED_VALUES = `
  SELECT bytes FROM state_blobs UNION ALL SELECT checkpoint FROM checkpoints UNION ALL SELECT metadata FROM checkpoints
  UNION ALL SELECT value FROM checkpoint_writes WHERE value IS NOT NULL
  UNION ALL SELECT value FROM checkpoint_blobs WHERE value IS NOT NULL
  UNION ALL SELECT value FROM thread_inputs
  UNION ALL SELECT CAST(serialized_state AS BLOB) FROM langgraph_checkpoints`;

/** Where in the file each byte of a stored value lies. */
function valueBytes(dbPath: string): readonly number[] {
  const db = openReadOnly({ dbPath });
  const values = db.prepare<[], Buffer>(STORED_VALUES).pluck().all();
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

describe('a bit that flips in a stored value', () => {
  test(`is reported by doctor, and the value is never used (${FLIPS} flips)`, {
    timeout: 60_000 + FLIPS * 300,
  }, async ({ annotate, db, dbPath }) => {
    aFullFile(db, { checkpoints: CHECKPOINTS });
    const copy = join(dirname(dbPath), 'copy.sqlite');
    backup(db, copy); // One file without a log, in which every page is in use.
    const offsets = valueBytes(copy);
    expect(offsets.length).toBeGreaterThan(20_000);
    const sound = readFileSync(copy);

    const tally = { reported: 0, refused: 0, used: 0 };
    const draw = noise(FLIPS * 5, 99);
    for (let n = 0; n < FLIPS; n += 1) {
      const random = Number.parseInt(draw.slice(n * 5, n * 5 + 5), 32);
      const offset = offsets[random % offsets.length] ?? 0;
      writeFileSync(copy, flipped(sound, offset, n % 8));
      const viewer = openReadOnly({ dbPath: copy });
      if (!doctor(viewer).ok) tally.reported += 1;
      const texts = readAll(viewer);
      viewer.close();
      if (texts.includes('refused')) tally.refused += 1;
      if (texts.some((text, index) => text !== 'refused' && text !== EXPECTED[index])) tally.used += 1;
    }
    await annotate(JSON.stringify({ flips: FLIPS, ...tally }));
    expect(tally.used).toBe(0);
    expect(tally.reported).toBeGreaterThanOrEqual(FLIPS * 0.98);
  });
});
