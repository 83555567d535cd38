import { Annotation, END, START, StateGraph } from '@langchain/langgraph';
import { describe, expect } from 'vitest';
import { test } from '../../../test/support/fixtures.ts';
import { only } from '../../../test/support/only.ts';
import { durable } from '../app/durable.ts';
import { internalsOf } from '../file/appInternals.ts';
import { step } from '../node/step.ts';

const State = Annotation.Root({
  brief: Annotation<string>(),
  draft: Annotation<string>(),
  published: Annotation<boolean>(),
});

interface Effects {
  readonly calls: string[];
}

function publishing({ calls }: Effects) {
  return new StateGraph(State)
    .addNode('write', async ({ brief }) => {
      const draft = await step('llm', ({ key }) => {
        calls.push(`llm ${key}`);
        return `About ${brief}`;
      });
      return { draft };
    })
    .addNode('publish', async ({ draft }) => {
      await step('publish', () => {
        calls.push(`publish ${draft}`);
      });
      return { published: true };
    })
    .addEdge(START, 'write')
    .addEdge('write', 'publish')
    .addEdge('publish', END);
}

const ada = { kind: 'human', id: 'ada' } as const;

describe('durable', () => {
  test('runs to the gate, waits there, and publishes once it is approved', async ({ db }) => {
    const effects: Effects = { calls: [] };
    const app = durable(publishing(effects), { db, gates: { publish: (state) => state.draft } });

    const waiting = await app.run('post-42', { brief: 'tea' });
    expect(waiting).toMatchObject({
      status: 'waiting',
      gates: [{ kind: 'node_gate', artifact: 'About tea' }],
    });
    expect((await app.run('post-42')).status).toBe('waiting');

    await app.decide(only(waiting.gates), { approved: true, by: ada });
    expect(await app.run('post-42')).toMatchObject({ status: 'completed', values: { published: true } });
    expect(await app.run('post-42')).toMatchObject({ status: 'completed' });
    expect(effects.calls.map((call) => call.split(' ')[0])).toEqual(['llm', 'publish']);
  });

  test('takes a file or an open database, one of them, and closes what it has opened', async ({
    db,
    dbPath,
  }) => {
    const builder = publishing({ calls: [] });
    expect(() => durable(builder, {})).toThrow(TypeError);
    expect(() => durable(builder, { db, file: dbPath })).toThrow(TypeError);
    durable(builder, { db }).close();
    expect(db.open).toBe(true);
    const own = durable(builder, { file: dbPath, gates: { publish: { show: (state) => state.draft } } });
    expect(await own.run('post-42', { brief: 'tea' })).toMatchObject({ status: 'waiting' });
    own.close();
    expect(internalsOf(own).store.db.open).toBe(false);
  });

  test.for([Number.NaN, -0.1, 1.1])('refuses an entropy threshold of %s', (entropyThreshold, { db }) => {
    expect(() => durable(publishing({ calls: [] }), { db, guards: { entropyThreshold } })).toThrow(
      RangeError,
    );
  });

  test('refuses a gate before a node that is not there', ({ db }) => {
    const gates = { publsh: () => 'a typing error' } as object;
    expect(() => durable(publishing({ calls: [] }), { db, gates })).toThrow(TypeError);
  });

  test.for([
    [{ limits: { valueBytes: 40 } }, 'VALUE_TOO_LARGE'],
    [{}, null],
  ] as const)(
    'holds the values of its state to the limits it is given: %j',
    async ([options, code], { db }) => {
      const app = durable(publishing({ calls: [] }), { db, ...options });
      const run = app.run('post-42', { brief: 'x'.repeat(50) });
      if (code === null) expect(await run).toMatchObject({ status: 'completed' });
      else await expect(run).rejects.toMatchObject({ code });
    },
  );
});
