import { MemorySaver } from '@langchain/langgraph';
import type { BaseCheckpointSaver } from '@langchain/langgraph-checkpoint';
import { SqliteSaver as OfficialSaver } from '@langchain/langgraph-checkpoint-sqlite';
import { describe, expect, test } from 'vitest';
import { createDatabase } from '../../src/db/createDatabase.ts';
import { durable } from '../../src/engine/app/durable.ts';
import { doctor } from '../../src/state/doctor/doctor.ts';
import { howMany } from '../support/howMany.ts';
import { begin, compiledWith, freshWorld, goOn, runFrom, someOf, transferred } from './threads.ts';

const by = { kind: 'human', id: 'ada' } as const;

const savers: Readonly<Record<string, () => BaseCheckpointSaver>> = {
  MemorySaver: () => new MemorySaver(),
  'the official SqliteSaver': () => OfficialSaver.fromConnString(':memory:'),
};

/** How many of them are tried. */
const TRIED = howMany('DEVS_IMPORTED', 20);

const all = someOf(transferred, TRIED);

describe.each(Object.entries(savers))('a thread of %s, left at each of its stops', (_saver, newSaver) => {
  test.each(all)('is imported and ends as LangGraph ends it: %s', async (_name, program) => {
    const db = createDatabase({ dbPath: ':memory:' });
    const whole = await begin(compiledWith(program, newSaver()), program, { threadId: 'whole' });
    for (let stops = 0; stops <= whole.asked.length; stops += 1) {
      const [saver, plain] = [newSaver(), newSaver()];
      const threadId = `stopped ${stops}`;
      await begin(compiledWith(program, saver), program, { threadId, stops });
      await begin(compiledWith(program, plain), program, { threadId, stops });
      const app = durable(program.build(freshWorld()) as never, { db });
      const history = stops % 2 === 1;
      expect(await app.importThread(threadId, { saver, by, history })).toMatchObject({ result: 'imported' });
      expect(await app.importThread(threadId, { saver, by, history })).toMatchObject({ result: 'unchanged' });
      const expected = await goOn(compiledWith(program, plain), program, { saver: plain, threadId });
      expect({ stops, ...(await runFrom(app, program, threadId)) }).toMatchObject({ stops, ...expected });
      expect(doctor(db)).toMatchObject({ ok: true });
    }
    db.close();
  });
});
