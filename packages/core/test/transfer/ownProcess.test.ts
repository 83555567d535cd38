import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { MemorySaver } from '@langchain/langgraph';
import { SqliteSaver as OfficialSaver } from '@langchain/langgraph-checkpoint-sqlite';
import Database from 'better-sqlite3';
import { expect } from 'vitest';
import { durable } from '../../src/engine/app/durable.ts';
import { test } from '../support/fixtures.ts';
import { spawnProgram } from '../support/spawnTs.ts';
import { endThread, type ThreadGraph, threadGraphs } from '../support/threadGraphs.ts';

const by = { kind: 'human', id: 'ada' } as const;

test('threads that another process has left, and still has open, end as LangGraph ends them, there and back', {
  timeout: 60_000,
}, async ({ db, dbPath }) => {
  db.pragma('synchronous = OFF');
  const path = `${dbPath}.checkpoints`;
  const { child, finished } = spawnProgram('packages/core/test/transfer/leave.child.ts', [path]);
  const [said] = (await once(child.stdout as NodeJS.ReadableStream, 'data')) as [Buffer];
  const ids = JSON.parse(String(said)) as readonly string[];
  const bytes = () => [readFileSync(path), readFileSync(`${path}-wal`)];
  const before = bytes();
  const source = new Database(path, { readonly: true, fileMustExist: true });
  const saver = new OfficialSaver(source as never);
  const back = new MemorySaver();
  for (const id of ids) {
    const app = durable(threadGraphs[id.split(' ')[0] as ThreadGraph]() as never, { db });
    await app.importThread(id, { saver, by });
    await app.exportThread(id, { saver: back });
  }
  expect(bytes()).toEqual(before);
  source.close();
  child.kill('SIGKILL');
  await finished;
  const plain = OfficialSaver.fromConnString(path);
  for (const id of ids) {
    const expected = await endThread(plain, id);
    const app = durable(threadGraphs[id.split(' ')[0] as ThreadGraph]() as never, { db });
    let ran = await app.run(id);
    while (ran.status === 'waiting') {
      for (const gate of ran.gates) await app.decide(gate, { value: `(${String(gate.artifact)})`, by });
      ran = await app.run(id);
    }
    expect([id, await app.values(id)]).toEqual([id, expected]);
    expect([id, await endThread(back, id)]).toEqual([id, expected]);
  }
  plain.db.close();
});
