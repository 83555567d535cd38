import { rmSync } from 'node:fs';
import { MemorySaver } from '@langchain/langgraph';
import { expect } from 'vitest';
import { createDatabase } from '../../src/db/createDatabase.ts';
import { durable } from '../../src/engine/app/durable.ts';
import { doctor } from '../../src/state/doctor/doctor.ts';
import type { Program } from '../programs/Program.ts';
import { programs } from '../programs/programs.ts';
import { type Death, DyingFile } from '../support/DyingFile.ts';
import { makeStateFile, test } from '../support/fixtures.ts';
import { howMany } from '../support/howMany.ts';
import { tried } from '../support/tried.ts';
import { begin, compiledWith, freshWorld, goOn, runFrom } from './threads.ts';

const by = { kind: 'human', id: 'ada' } as const;
const threadId = 'post';

/** Threads that a process dies with, and at how many writes of each import. */
const THREADS = howMany('DEVS_IMPORT_THREADS', 1);
const DEATHS = howMany('DEVS_IMPORT_DEATHS', 6);

const waiting = ['subgraphs in subgraphs ask', 'sends to a subgraph that asks', 'a loop in a subgraph asks']
  .map((name): [string, Program | undefined] => [name, programs['subgraphs']?.[name]])
  .concat(Object.entries(programs['interrupts'] ?? {}))
  .slice(0, THREADS);

const open = (dbPath: string, death: Death | null) => {
  makeStateFile(dbPath);
  const db = createDatabase({ dbPath });
  db.pragma('synchronous = OFF'); // dying here is closing: what was committed is in the file
  return { db, file: new DyingFile(db, death) };
};

test.for(waiting)(
  'a process that dies at any write of an import leaves all of it or nothing: %s',
  {
    timeout: 300_000,
  },
  async ([, given], { dbPath, task }) => {
    const program = given as Program;
    const saver = new MemorySaver();
    await begin(compiledWith(program, saver), program, { threadId, stops: 0 });
    const plain = new MemorySaver();
    await begin(compiledWith(program, plain), program, { threadId, stops: 0 });
    const ended = await goOn(compiledWith(program, plain), program, { saver: plain, threadId });

    const imports = async (path: string, death: Death | null) => {
      const { db, file } = open(path, death);
      const app = durable(program.build(freshWorld()) as never, { db });
      const imported = await app
        .importThread(threadId, { saver, by, history: true })
        .catch((error: unknown) => {
          if (db.open) throw error;
          return null;
        });
      db.close();
      return { imported, writes: file.writes };
    };
    const whole = await imports(dbPath, null);
    expect(whole.imported).toMatchObject({ result: 'imported' });
    const part = Math.max(1, Math.floor(whole.writes / DEATHS));
    tried(task, { ways: Math.ceil(whole.writes / part) });
    const results = new Set<string>();
    for (let write = whole.writes; write > 0; write -= part) {
      const path = `${dbPath}-${write}`;
      await imports(path, { write, side: 'after' });
      const { db } = open(path, null);
      const rows = db
        .prepare('SELECT (SELECT count(*) FROM threads) + (SELECT count(*) FROM checkpoints)')
        .pluck()
        .get();
      const app = durable(program.build(freshWorld()) as never, { db });
      const { result } = await app.importThread(threadId, { saver, by, history: true });
      expect([write, result]).toEqual([write, rows === 0 ? 'imported' : 'unchanged']);
      results.add(result);
      expect({ write, ...(await runFrom(app, program, threadId)) }).toMatchObject({ write, ...ended });
      expect(doctor(db)).toMatchObject({ ok: true });
      db.close();
      rmSync(path);
    }
    expect(results).toContain('imported');
  },
);
