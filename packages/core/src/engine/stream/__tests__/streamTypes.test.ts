import { Annotation, END, START, StateGraph } from '@langchain/langgraph';
import { describe, expectTypeOf } from 'vitest';
import { test } from '../../../../test/support/fixtures.ts';
import { durable } from '../../app/durable.ts';
import type { GateOpenedEvent, RestartedEvent, RunEnded, TokensChunk, TurnBegun } from '../StreamEvent.ts';

const State = Annotation.Root({ count: Annotation<number>() });

const counting = () =>
  new StateGraph(State)
    .addNode('add', ({ count }) => ({ count: count + 1 }))
    .addEdge(START, 'add')
    .addEdge('add', END);

type EventOf<Events> = Events extends AsyncIterable<infer Event> ? Event : never;

describe('the type of a stream', () => {
  test('has the modes that were asked for, and gates and ends', ({ db }) => {
    const app = durable(counting(), { db });
    const updates = () => app.stream('run', { count: 1 });
    expectTypeOf<EventOf<ReturnType<typeof updates>>['mode']>().toEqualTypeOf<
      'updates' | 'gate' | 'turn' | 'end'
    >();
    const several = () => app.stream('run', null, { streamMode: ['values', 'custom'] });
    type Several = EventOf<ReturnType<typeof several>>;
    expectTypeOf<Several['mode']>().toEqualTypeOf<'values' | 'custom' | 'gate' | 'turn' | 'end'>();
    const tokens = () => app.stream('run', undefined, { streamMode: 'messages' });
    expectTypeOf<EventOf<ReturnType<typeof tokens>>>().toEqualTypeOf<
      TokensChunk | RestartedEvent | GateOpenedEvent | TurnBegun | RunEnded
    >();
  });

  test('has the state and the updates of the graph', ({ db }) => {
    const app = durable(counting(), { db });
    const whole = () => app.stream('run', { count: 1 }, { streamMode: ['values', 'updates', 'custom'] });
    type Whole = EventOf<ReturnType<typeof whole>>;
    expectTypeOf<Extract<Whole, { mode: 'values' }>['data']>().toExtend<{ count: number }>();
    expectTypeOf<Extract<Whole, { mode: 'updates' }>['data'][string]['count']>().not.toBeNever();
    expectTypeOf<Extract<Whole, { mode: 'custom' }>['data']>().toEqualTypeOf<unknown>();
    expectTypeOf<Whole['seq']>().toEqualTypeOf<number>();
  });

  test('refuses other modes, inputs and places', ({ db }) => {
    const app = durable(counting(), { db });
    // @ts-expect-error: a mode of LangGraph's that is not streamed
    expectTypeOf(() => app.stream('run', null, { streamMode: 'debug' })).toBeFunction();
    // @ts-expect-error: a count is a number
    expectTypeOf(() => app.stream('run', { count: 'one' })).toBeFunction();
    // @ts-expect-error: a place is a number
    expectTypeOf(() => app.stream('run', null, { after: '7' })).toBeFunction();
  });
});
