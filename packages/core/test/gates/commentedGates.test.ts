import { Annotation, END, START, StateGraph } from '@langchain/langgraph';
import type { Database } from 'better-sqlite3';
import { describe, expect, expectTypeOf } from 'vitest';
import { ada } from '../../src/engine/__tests__/ownGraph.ts';
import type { GateComment } from '../../src/engine/gates/answerForms.ts';
import type { DeclaredGate } from '../../src/engine/gates/DeclaredGate.ts';
import type { GateAnswer } from '../../src/engine/gates/Gate.ts';
import { DecisionLog } from '../../src/state/gates/DecisionLog.ts';
import { test } from '../support/fixtures.ts';
import { only } from '../support/only.ts';
import { durable } from '../support/runs/durable.ts';

const State = Annotation.Root({ notes: Annotation<unknown>() });

/** A gate that shows `artifact`, and writes what was said of it. */
function asking(db: Database, artifact: unknown) {
  const graph = new StateGraph(State)
    .addNode('publish', () => ({ notes: 'published' }))
    .addEdge(START, 'publish')
    .addEdge('publish', END);
  return durable(graph, {
    db,
    gates: {
      publish: {
        show: () => artifact,
        onReject: (_state, feedback, comments) => ({ notes: { feedback, comments } }),
      },
    },
  });
}

describe('comments at a gate of an own graph', () => {
  const comments = [
    { in: '', quote: 'Helo', text: 'Two l.' },
    { in: 'body', quote: 'Helo', line: 2, text: 'Here, too.' },
  ];

  test('are given to onReject, and stay in the chain of decisions', async ({ db }) => {
    const app = asking(db, { title: 'Helo', body: 'Dear all\nHelo' });
    const gate = only((await app.run('run', {})).gates);
    await app.decide(gate, { approved: false, feedback: 'No.', comments, by: ada, via: 'page' });
    const { status, values } = await app.run('run');
    expect({ status, notes: values?.notes }).toEqual({
      status: 'completed',
      notes: { feedback: 'No.', comments },
    });
    expect(new DecisionLog(db).verify()).toEqual({ ok: true });
    const line = db.prepare<[], string>('SELECT body_json FROM hitl_decisions').pluck().get() ?? '';
    expect(line).toContain('"via":"page"');
    expect(line).not.toContain('Two l.');
  });

  test('are none where nothing was said of a place', async ({ db }) => {
    const app = asking(db, 'Helo');
    const gate = only((await app.run('run', {})).gates);
    await app.decide(gate, { approved: false, feedback: 'No.', by: ada });
    expect((await app.run('run')).values?.notes).toEqual({ feedback: 'No.', comments: [] });
  });

  test('are refused on what is not shown, and beside anything but a no', async ({ db }) => {
    const app = asking(db, 'Helo');
    const gate = only((await app.run('run', {})).gates);
    const code = (answer: object): Promise<unknown> =>
      app.decide(gate, { ...answer, by: ada } as GateAnswer).catch((error) => error.code as unknown);
    expect(await code({ approved: false, comments })).toBe('QUOTE_NOT_SHOWN');
    expect(await code({ approved: true, comments: comments.slice(0, 1) })).toBe('INVALID_ANSWER');
    expect(await code({ value: 1, comments: comments.slice(0, 1) })).toBe('INVALID_ANSWER');
    expect(await app.gates('run')).toHaveLength(1);
  });
});

test('their types are those of the documentation', () => {
  expectTypeOf<GateComment>().toEqualTypeOf<{
    readonly in: string;
    readonly quote: string;
    readonly line?: number;
    readonly text: string;
  }>();
  type OnReject = NonNullable<DeclaredGate<object>['onReject']>;
  expectTypeOf<Parameters<OnReject>[2]>().toEqualTypeOf<readonly GateComment[]>();
  expectTypeOf<(state: object, feedback: string | undefined) => object>().toExtend<OnReject>();
  expectTypeOf<GateAnswer['via']>().toEqualTypeOf<string | undefined>();
});
