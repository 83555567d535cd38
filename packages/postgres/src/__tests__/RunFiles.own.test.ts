import { randomUUID } from 'node:crypto';
import { createDatabase } from '@devs/core';
import { expect, test } from 'vitest';
import { encodeChange, FileImage, pageChecksum } from '../files/change.ts';
import { FileTemplates } from '../files/FileTemplates.ts';
import { plainCodecs, RunFiles } from '../files/RunFiles.ts';
import type { Tables } from '../server/Tables.ts';

const MIB = 1024 * 1024;
const PAGE = 4096;
/** Of a file, zeros for the most part: some hundred bytes of it are kept. */
const BOMB = 64 * MIB;
const MOST = MIB;

const db = createDatabase({ dbPath: ':memory:' });
const TEMPLATE = db.serialize();
const VERSION = db.prepare<[], number>('SELECT max(version) FROM schema_migrations').pluck().get();
db.close();

/** PostgreSQL as `RunFiles` asks it: a base and changes. */
function files(base: Uint8Array, changes: readonly Uint8Array[], maxFileBytes?: number): RunFiles {
  const run = {
    tenant: 'default',
    birth: randomUUID(),
    mark: 'm',
    seq: 1,
    told: 0,
    taken: 0,
    driven: false,
    grown: false,
  };
  const pieces = [
    { kind: 'run', bytes: null, text: JSON.stringify(run) },
    { kind: 'base', bytes: base, text: null },
    ...changes.map((bytes) => ({ kind: 'change', bytes, text: null })),
  ];
  const query = async (sql: string | object) =>
    typeof sql === 'string' ? [{ version: VERSION, bytes: Buffer.from(TEMPLATE) }] : pieces;
  const tables = { schema: '"devs"', statement: () => ({ text: '' }), query } as unknown as Tables;
  return new RunFiles(tables, new FileTemplates(tables), {
    codecs: plainCodecs,
    ...(maxFileBytes && { maxFileBytes }),
  });
}

const packed = (file: Uint8Array): Promise<Uint8Array> => files(new Uint8Array(), []).packed(file, 'default');

/** Bytes outside of the heap that a call takes at most, as far as they can be seen while it runs. */
async function mostOf(work: () => Promise<unknown>): Promise<number> {
  globalThis.gc?.();
  const before = process.memoryUsage().arrayBuffers;
  let most = 0;
  const look = setInterval(() => {
    most = Math.max(most, process.memoryUsage().arrayBuffers - before);
  }, 1);
  await work().finally(() => clearInterval(look));
  return most;
}

test('a base that becomes more than a file may have costs no more than that, and is corrupt', async () => {
  const file = new Uint8Array(BOMB);
  file.set(TEMPLATE);
  const base = await packed(file);
  expect(base.length).toBeLessThan(100_000);
  const most = await mostOf(() =>
    expect(files(base, [], MOST).read('m')).rejects.toMatchObject({
      code: 'STATE_CORRUPT',
      message: expect.stringContaining(`more than ${MOST} bytes`),
    }),
  );
  expect(most).toBeLessThan(16 * MIB);
  const whole = await files(await packed(Uint8Array.from(TEMPLATE)), [], MOST).read('m');
  expect(whole?.image.bytes.equals(TEMPLATE)).toBe(true);
});

test('nor does a change that says the file has any number of pages', async () => {
  const base = await packed(Uint8Array.from(TEMPLATE));
  const image = new FileImage(TEMPLATE);
  const pages = BOMB / PAGE;
  let { sum } = image;
  for (let page = TEMPLATE.length / PAGE + 1; page <= pages; page += 1)
    sum ^= pageChecksum(page, new Uint8Array(PAGE));
  const change = encodeChange({ pageSize: PAGE, pages, sum: sum >>> 0, edits: [] }, []);
  const most = await mostOf(() =>
    expect(files(base, [change], MOST).read('m')).rejects.toMatchObject({ code: 'STATE_CORRUPT' }),
  );
  expect(most).toBeLessThan(16 * MIB);
  const unlimited = await files(base, [change], BOMB).read('m');
  expect(unlimited?.image.bytes.length).toBe(BOMB);
});
