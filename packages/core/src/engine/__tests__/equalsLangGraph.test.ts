import fc from 'fast-check';
import { afterEach, beforeEach, describe, expect, vi } from 'vitest';
import { byDurable, byLangGraph, type Ended, type Given } from '../../../test/support/besideLangGraph.ts';
import { test } from '../../../test/support/fixtures.ts';
import { howMany } from '../../../test/support/howMany.ts';
import { runByLangGraph } from '../../../test/support/runByLangGraph.ts';
import * as loopTurn from '../execution/yieldToEventLoop.ts';
import { buildGraph, type RandomGraph, type RandomNode, randomGraphs } from './randomGraph.ts';

// A task that waits for a turn of the event loop, which comes by the clock, may find that one beside it has failed.
beforeEach(() => void vi.spyOn(loopTurn, 'shouldYield').mockReturnValue(false));
afterEach(() => void vi.restoreAllMocks());

/** Cases; `DEVS_GRAPH_SEED=42` repeats those of a failure. */
const CASES = howMany('DEVS_GRAPH_CASES', 20);
const SEED = process.env['DEVS_GRAPH_SEED'];

/** Branches of one super-step begin in an order that means nothing. */
const byNode = (given: readonly (readonly [string, unknown])[]) =>
  given.toSorted(([left], [right]) => left.localeCompare(right));

type Thrown = NonNullable<Ended['thrown']>;

/** Of several errors at once the reason says what each of them says, and not where they are. */
const reasonOf = ({ name, message }: Thrown): unknown =>
  name === 'AggregateError' ? expect.not.stringContaining(message) : message;

const leaf: RandomNode = {
  work: { acts: [], fails: 0 },
  inside: null,
  outputs: [{ kind: 'update', writes: [['sum', 1]] }],
  isList: false,
  edges: [],
  conditional: null,
  ownInput: false,
};

/** Eleven tasks at once, which the random ones seldom have. */
const WIDE: RandomGraph = {
  nodes: [
    { ...leaf, conditional: Array.from({ length: 11 }, (_, payload) => ({ ahead: 1, payload })) },
    leaf,
  ],
  starts: [0],
};

describe('a random graph', () => {
  test('gives its nodes, ends with and throws what it does by LangGraph alone', {
    timeout: 60_000 + CASES * 1_000,
  }, async ({ db }) => {
    const property = fc.asyncProperty(randomGraphs, async (random) => {
      const build = (given: Given): unknown => buildGraph(random, given);
      const plain = await byLangGraph(build, { log: ['input'] });
      const own = await byDurable(build, { log: ['input'] }, db);
      expect(byNode(own.given)).toStrictEqual(byNode(plain.given));
      expect(own.ended).toStrictEqual(plain.ended);
      const { thrown } = plain.ended;
      if (thrown === undefined) expect(own).toMatchObject({ status: 'completed', reason: null });
      else expect(own).toMatchObject({ status: 'failed', reason: reasonOf(thrown) });
      if (thrown === undefined) expect(own.returned).toStrictEqual(plain.ended.output);
    });
    const seed = SEED === undefined ? {} : { seed: Number(SEED) };
    await runByLangGraph(() => fc.assert(property, { numRuns: CASES, examples: [[WIDE]], ...seed }));
  });
});
