import { isDeepStrictEqual } from 'node:util';
import {
  Annotation,
  Command,
  interrupt,
  type LangGraphRunnableConfig,
  MessagesAnnotation,
  Send,
  START,
  StateGraph,
} from '@langchain/langgraph';
import type { Database } from 'better-sqlite3';
import fc from 'fast-check';
import { describe, expect } from 'vitest';
import { durable } from '../../src/engine/app/durable.ts';
import { shownGate } from '../../src/engine/gates/Gate.ts';
import { step } from '../../src/engine/node/step.ts';
import { waitFor } from '../../src/engine/node/waitFor.ts';
import { SqliteSaver } from '../../src/engine/saver/SqliteSaver.ts';
import { scrub } from '../../src/masking/scrub.ts';
import { aState } from '../../src/orchestration/__tests__/aState.ts';
import { OrchestrationGraph } from '../../src/orchestration/graph.ts';
import { hashOf } from '../../src/values/canonicalJson.ts';
import { test } from '../support/fixtures.ts';
import { howMany } from '../support/howMany.ts';
import { listOf } from '../support/listOf.ts';
import { only } from '../support/only.ts';
import { type Specimen, specimenOf, specimens } from './specimens.ts';

const BINARIES = howMany('DEVS_EXACT_BINARIES', 6);
/** A signal and an answer may have 256 KiB. */
const MAX_BYTES = howMany('DEVS_EXACT_BYTES', 3_000);
const ada = { kind: 'human', id: 'ada' } as const;

const State = Annotation.Root({
  ...MessagesAnnotation.spec,
  given: Annotation<Specimen>(),
  sent: Annotation<readonly unknown[]>({ reducer: (left, right) => [...left, ...right], default: () => [] }),
  stepped: Annotation<unknown>(),
  put: Annotation<unknown>(),
  told: Annotation<unknown>(),
  answered: Annotation<unknown>(),
});

/** Passes what it is given through everything that a node can pass it through, and notes what came of it. */
const passing = (seen: Map<string, unknown>) =>
  new StateGraph(State)
    .addNode(
      'work',
      async ({ given, messages }, { writer, store }: LangGraphRunnableConfig) => {
        seen.set('input', given).set('message', messages[0]);
        writer?.(given);
        await store?.put([given.texts['token'] ?? ''], 'item', given.texts);
        const put = (await store?.get([given.texts['token'] ?? ''], 'item'))?.value;
        const update = { stepped: await step('call', () => given), put };
        return new Command({ update, goto: new Send('receive', given) });
      },
      { ends: ['receive'] },
    )
    .addNode('receive', (given: unknown) => ({ sent: [given] }))
    .addNode('wait', async () => ({ told: await waitFor('told') }))
    .addNode('ask', ({ given }) => ({ answered: interrupt(given.texts) }))
    .addEdge(START, 'work')
    .addEdge('receive', 'wait')
    .addEdge('wait', 'ask');

/** Without a picture of the difference: that of a photo takes minutes. */
const expectSame = (got: unknown, given: unknown, place: string): void =>
  expect(isDeepStrictEqual(got, given), place).toBe(true);

async function passThrough(specimen: Specimen, db: Database, id: string): Promise<void> {
  const { texts, message } = specimen;
  const seen = new Map<string, unknown>();
  const app = durable(passing(seen), { db, store: 'file' });
  await app.run(id, { given: specimen, messages: [message] });
  await app.signal(id, 'told', texts, { by: ada, signalId: texts['token'] ?? '' });
  const gate = only((await app.run(id)).gates);
  expectSame([gate.artifact, gate.artifactHash], [texts, hashOf(texts)], 'gate');
  await app.decide(gate, { value: texts, by: ada, withHidden: shownGate(gate).hiddenCount });
  expect((await app.run(id)).status).toBe('completed');
  expectSame([seen.get('input'), seen.get('message')], [specimen, message], 'input');

  await app.fork(id, { as: `${id}-fork`, by: ada });
  for (const run of [id, `${id}-fork`]) {
    // Another connection, so that nothing comes from memory.
    const again = durable(passing(new Map()), { db, store: 'file' });
    const values = await again.values(run);
    const kept = {
      ...{ given: specimen, messages: [message], sent: [specimen], stepped: specimen },
      ...{ put: texts, told: texts, answered: texts },
    };
    for (const [name, value] of Object.entries(kept))
      expectSame(values?.[name as keyof typeof values], value, `${name} of ${run}`);
  }
  const streamed = await listOf(app.stream(id, null, { streamMode: ['custom', 'updates'] }));
  const custom = streamed.flatMap((event) => (event.mode === 'custom' ? [event.data] : []));
  expectSame(custom, [specimen], 'stream');
}

describe('a binary, and what opens a door', () => {
  const timeout = 60_000 + BINARIES * 3_000;

  test('come out of a run as they went in, wherever they pass', { timeout }, async ({ db }) => {
    let runs = 0;
    const passes = (specimen: Specimen): Promise<void> => {
      runs += 1;
      return passThrough(specimen, db, `run-${runs}`);
    };
    await fc.assert(fc.asyncProperty(specimens(MAX_BYTES), passes), {
      numRuns: BINARIES,
      endOnFailure: true,
    });
  });

  test('come out of LangGraph with a bare saver as they went in', async ({ db }) => {
    const { texts, message, bytes } = specimenOf(1, 5_000);
    const graph = new StateGraph(State)
      .addNode('work', () => ({ stepped: [texts, message, bytes] }))
      .addEdge(START, 'work')
      .compile({ checkpointer: new SqliteSaver(db) });
    const config = { configurable: { thread_id: 't' } };
    await graph.invoke({ messages: [message] }, config);
    const { values } = await graph.getState(config);
    expect(values).toMatchObject({ messages: [message], stepped: [texts, message, bytes] });
  });

  test('come out of a bare pipeline as they went in', async ({ db }) => {
    const { texts } = specimenOf(2, 5_000);
    const config = { configurable: { thread_id: 't' } };
    const given = aState();
    const description = Object.values(texts).join('\n');
    const projectConfig = { ...given.projectConfig, description };
    const { graph } = OrchestrationGraph.withSqlitePersistence(db);
    await graph.invoke({ ...given, projectConfig }, config);
    const { values } = await OrchestrationGraph.withSqlitePersistence(db).graph.getState(config);
    expect(values.projectConfig.description).toBe(description);
  });
});

describe('scrubbing', () => {
  /** What a rule knows, in the middle of base64: as random as the rest of it. */
  const unlucky = `${'Qm9v'.repeat(60)}+AKIAIOSFODNN7EXAMPLE/ghp0${'Qm9v'.repeat(60)}`;

  test('alters no binary', { timeout: 60_000 + BINARIES * 300 }, () => {
    const binaries = (specimen: Specimen): unknown => {
      const { base64, base64url, hex, dataUrl } = specimen.texts;
      return { base64, base64url, hex, dataUrl, image: specimen.message.content[1], bytes: specimen.bytes };
    };
    const alters = (specimen: Specimen): void => {
      fc.pre(specimen.bytes.length > 200);
      const value = binaries(specimen);
      expect(scrub(value).value === value).toBe(true);
    };
    fc.assert(fc.property(specimens(32 * 1024), alters), { numRuns: 4 * BINARIES, endOnFailure: true });
    for (const value of [unlucky, `data:image/png;base64,${unlucky}`, { url: `data:;base64,${unlucky}` }])
      expect(scrub(value).value === value).toBe(true);
  });
});
