import type { Gate } from '@devs/core';
import { gateInterrupt } from '@devs/core';
import type { StreamEvent } from '@devs/core/langgraph';
import { describe, expect, test } from 'vitest';
import { matches } from '../ProtocolEvent.ts';
import { ThreadEvents } from '../ThreadEvents.ts';

const gateOf = (sessionId: string): Gate => ({
  ...{ sessionId, threadId: 't', kind: 'interrupt', taskId: 't', artifactHash: 'a'.repeat(64), message: '' },
  ...{ artifact: { sure: true }, openedAt: '2026-01-01T00:00:00.000Z' },
});
const NONE: ReadonlySet<string> = new Set();

const piece = (text: string, at: number): StreamEvent => ({
  ...{
    mode: 'messages',
    id: 'call-1',
    piece: at,
    ns: [],
    task: 'x',
    node: 'chat',
    step: 1,
    attempt: 1,
    data: text,
  },
  ...{ chunk: { id: 'm1', content: text } as never, metadata: { langgraph_node: 'chat' } },
});

/** A turn with two questions at once, which are answered one after the other. */
const TURN: readonly StreamEvent[] = [
  { mode: 'turn', seq: 1, turn: 'r1' },
  { mode: 'values', seq: 2, ns: [], data: { topic: 'x' } },
  { mode: 'updates', seq: 3, ns: [], data: { write: { draft: 'y' }, check: { ok: true } } },
  { mode: 'gate', seq: 4, gate: gateOf('g1') },
  { mode: 'gate', seq: 5, gate: gateOf('g2') },
  { mode: 'updates', seq: 6, ns: [], data: { ask: { ok: 1 } } },
  { mode: 'end', seq: 7, status: 'completed', reason: null, turn: 'r1' },
];

/** As a page is told that was there all the time. */
function live(): ReturnType<ThreadEvents['groupOf']> {
  const events = new ThreadEvents({ graph: 'post', run: 't' });
  const open = new Set(['g1', 'g2']);
  const before = TURN.slice(0, 5).flatMap((event) => events.groupOf(event, open));
  const asked = events.waits();
  const first = [...events.answered(new Set(['g2'])), ...events.waits()];
  const second = events.answered(NONE);
  return [
    ...before,
    ...asked,
    ...first,
    ...second,
    ...TURN.slice(5).flatMap((event) => events.groupOf(event, NONE)),
  ];
}

/** As a page is told that comes later. */
function replayed(): ReturnType<ThreadEvents['groupOf']> {
  const events = new ThreadEvents({ graph: 'post', run: 't' });
  return TURN.flatMap((event) => events.groupOf(event, NONE));
}

const said = (events: ReturnType<ThreadEvents['groupOf']>): readonly string[] =>
  events
    .filter(({ method }) => method === 'lifecycle')
    .map(({ event_id: id, params }) => `${(params.data as { event: string }).event} ${id}`);

describe('the events of a thread', () => {
  test('have ids of their own, in the order of their positions, and the last of a position has it', () => {
    const events = live();
    const ids = events.map(({ event_id: id }) => id);
    expect(new Set(ids).size).toBe(ids.length);
    const positions = events.map(({ seq }) => seq);
    expect(positions).toEqual(positions.toSorted((a, b) => a - b));
    const split = events.filter(({ event_id: id }) => id.startsWith('3'));
    expect(split.map(({ seq, event_id: id, params }) => [seq, id, params.node])).toEqual([
      [2, '3.0', 'write'],
      [3, '3', 'check'],
    ]);
  });

  test('are the same for a page that comes later, but for pauses that are over', () => {
    const known = new Map(live().map((event) => [event.event_id, event.params.data]));
    for (const { event_id: id, params, method } of replayed()) {
      const isRequest = method === 'input.requested';
      if (!isRequest) expect(known.get(id), id).toEqual(params.data);
    }
    expect(said(replayed()).at(-1)).toBe(said(live()).at(-1));
  });

  test('say of each answer that the run goes on, under an id that has not ended', () => {
    expect(said(live())).toEqual([
      'running synth:r1:running:1',
      'interrupted synth:r1:interrupted:5+g1+g2',
      'running synth:r1~g1:running:g1',
      'interrupted synth:r1~g1:interrupted:5+g2',
      'running synth:r1~g2:running:g2',
      'completed synth:r1~g2:completed:7',
    ]);
    const answers = live().filter(({ method }) => method === 'input.answered');
    expect(answers.map(({ params }) => params.data)).toEqual(
      ['g1', 'g2'].map((session) => ({ interrupt_ids: [gateInterrupt(gateOf(session)).id] })),
    );
  });

  test('have the checkpoint of values before them, at the same position', () => {
    const events = new ThreadEvents({ graph: 'chat', run: 'r1' });
    events.groupOf({ mode: 'turn', seq: 1, turn: 'r1' }, NONE);
    const at = { id: 'c2', parentId: 'c1', step: 0, source: 'loop' } as const;
    const values = { mode: 'values', seq: 2, ns: [], data: {}, checkpoint: at } as const;
    const told = events.groupOf(values, NONE);
    expect(told.map(({ method, seq, params }) => [method, seq, params.data])).toEqual([
      ['checkpoints', 1, { id: 'c2', parent_id: 'c1', step: 0, source: 'loop' }],
      ['values', 2, {}],
    ]);
  });

  test('have the blocks of a message, which end when the state has it', () => {
    const events = new ThreadEvents({ graph: 'chat', run: 'r1' });
    const told = [piece('Hel', 0), piece('lo', 1)].flatMap((event) => events.groupOf(event, NONE));
    const ended = events.groupOf({ mode: 'updates', seq: 3, ns: [], data: { chat: {} } }, NONE);
    expect(
      [...told, ...ended].map(({ params }) => (params.data as { event?: string }).event ?? 'updates'),
    ).toEqual([
      ...['message-start', 'content-block-start', 'content-block-delta', 'content-block-delta'],
      ...['running', 'content-block-finish', 'message-finish', 'updates'],
    ]);
    const finish = ended.find(
      ({ params }) => (params.data as { event?: string }).event === 'content-block-finish',
    );
    expect(finish?.params.data).toMatchObject({ index: 0, content: { type: 'text', text: 'Hello' } });
  });

  test('are chosen by channel, namespace and depth', () => {
    const [, , event] = live();
    if (event === undefined) throw new Error('There is no event.');
    const inside = { ...event, params: { ...event.params, namespace: ['agent:1', 'tools:2'] } };
    const filter = (more: object) => ({ channels: new Set(['updates', 'values']), ...more });
    expect(matches(filter({}), inside)).toBe(true);
    expect(matches({ channels: new Set(['lifecycle']) }, inside)).toBe(false);
    expect(matches(filter({ namespaces: [['agent']] }), inside)).toBe(true);
    expect(matches(filter({ namespaces: [['agent:2']] }), inside)).toBe(false);
    expect(matches(filter({ namespaces: [[]], depth: 1 }), inside)).toBe(false);
  });
});
