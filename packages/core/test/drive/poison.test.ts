import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { expect, onTestFinished } from 'vitest';
import { twoSteps } from '../../src/engine/__tests__/ownGraph.ts';
import { durable } from '../../src/langgraph.ts';
import { ThreadStore } from '../../src/state/threads/ThreadStore.ts';
import { test } from '../support/fixtures.ts';
import { programFile } from '../support/programFile.ts';

const PROGRAM = new URL('poison.child.ts', import.meta.url);

test('six good runs beside one that ends every process come to their ends, and five processes to theirs', async ({
  db,
  dbPath,
}) => {
  const ids = ['good-1', 'good-2', 'good-3', 'poison', 'good-4', 'good-5', 'good-6'];
  const app = durable(twoSteps(), { db });
  for (const id of ids) await app.start(id, {});
  const ledger = join(dirname(dbPath), 'ledger');
  writeFileSync(ledger, '');
  let deaths = 0;
  /** One process after the other, until one has nothing to drive any more. */
  const keepUp = async (): Promise<void> => {
    for (;;) {
      const child = spawn(process.execPath, [programFile(PROGRAM), dbPath, ledger], {
        stdio: ['pipe', 'ignore', 'inherit'],
      });
      onTestFinished(() => void child.kill('SIGKILL'));
      const [code] = (await once(child, 'exit')) as [number];
      if (code === 0) return;
      deaths += 1;
    }
  };
  await Promise.all([keepUp(), keepUp()]);
  const threads = new ThreadStore(db);
  expect(ids.map((id) => [id, threads.require(id).status])).toEqual(
    ids.map((id) => [id, id === 'poison' ? 'dead_letter' : 'completed']),
  );
  expect(threads.require('poison').reason).toContain('5 processes died while executing it');
  // One that died before its first Thought was on disk is not counted; the next are driven without delay.
  expect([5, 6]).toContain(deaths);
  const lines = readFileSync(ledger, 'utf8').trimEnd().split('\n');
  const poisoned = lines.filter((line) => line.endsWith(' poison')).map((line) => line.split(' ')[0]);
  // Alone from the second death that is counted on.
  for (const pid of poisoned.slice(3)) {
    const after = lines.slice(lines.indexOf(`${pid} poison`));
    expect(after.filter((line) => line.startsWith(`${pid} `))).toEqual([`${pid} poison`]);
  }
}, 120_000);
