import { MemorySaver } from '@langchain/langgraph';
import { SqliteSaver as OfficialSaver } from '@langchain/langgraph-checkpoint-sqlite';
import { expect, test } from 'vitest';
import { createDatabase } from '../../src/db/createDatabase.ts';
import { durable } from '../../src/engine/app/durable.ts';
import { howMany } from '../support/howMany.ts';
import { begin, compiledWith, freshWorld, goOn, someOf, transferred } from './threads.ts';

const by = { kind: 'human', id: 'ada' } as const;

const TRIED = howMany('DEVS_EXPORTED', 12);

const asking = someOf(
  transferred.filter(([, { answer }]) => answer !== undefined),
  TRIED,
);

test.each(asking)('goes on by plain LangGraph where it was exported: %s', async (_name, program) => {
  const db = createDatabase({ dbPath: ':memory:' });
  const app = durable(program.build(freshWorld()) as never, { db });
  const whole = await begin(compiledWith(program, new MemorySaver()), program, { threadId: 'whole' });
  for (let stops = 0; stops < Math.max(1, whole.asked.length); stops += 1) {
    const threadId = `stopped ${stops}`;
    const [source, target] = [new MemorySaver(), OfficialSaver.fromConnString(':memory:')];
    await begin(compiledWith(program, source), program, { threadId, stops });
    await app.importThread(threadId, { saver: source, by, history: true });
    const history = stops % 2 === 0;
    expect(await app.exportThread(threadId, { saver: target, history })).toMatchObject({
      result: 'exported',
    });
    expect(await app.exportThread(threadId, { saver: target })).toMatchObject({ result: 'unchanged' });
    const expected = await goOn(compiledWith(program, source), program, { saver: source, threadId });
    const ended = await goOn(compiledWith(program, target), program, { saver: target, threadId });
    expect({ stops, ...ended }).toEqual({ stops, ...expected });
    target.db.close();
  }
  db.close();
});
