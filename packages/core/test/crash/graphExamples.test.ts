import { execFile } from 'node:child_process';
import { randomInt } from 'node:crypto';
import { dirname, join } from 'node:path';
import { Command, InMemoryStore, MemorySaver } from '@langchain/langgraph';
import fc from 'fast-check';
import { describe, expect, vi } from 'vitest';
import { examples } from '../../../../examples/graphs/examples.ts';
import type { Example } from '../../../../examples/graphs/support/Example.ts';
import { passTime } from '../../../../examples/graphs/support/passTime.ts';
import { type Effect, effectsIn, openWorld } from '../../../../examples/graphs/support/world.ts';
import * as engine from '../../src/langgraph.ts';
import { test } from '../support/fixtures.ts';
import { howMany } from '../support/howMany.ts';
import { only } from '../support/only.ts';
import { programFile } from '../support/programFile.ts';
import { recordedKeys } from '../support/recordedKeys.ts';
import { tried } from '../support/tried.ts';

/** Kills per example, each right after another effect; one in five examples is killed, where that is 1. `DEVS_GRAPH_SEED=42` repeats which. */
const KILLS = howMany('DEVS_GRAPH_KILLS', 1);
const SEED = Number(process.env['DEVS_GRAPH_SEED'] ?? randomInt(2 ** 31));

/** LangGraph alone does not wait: the hour has come, all is told, another graph is called as it is. */
function dontWait(signals: Readonly<Record<string, unknown>>): void {
  const told = (name: string, options?: object) => {
    const payload = signals[name];
    return options === undefined ? payload : { timedOut: !(name in signals), payload };
  };
  const called = async (app: { readonly graph: Compiled }, id: string, input: object) => {
    const values = await app.graph.invoke(input, { configurable: { thread_id: id } });
    return { status: 'completed', reason: null, values };
  };
  vi.spyOn(engine, 'sleep').mockResolvedValue(undefined);
  vi.spyOn(engine, 'waitFor').mockImplementation(told as never);
  vi.spyOn(engine, 'child').mockImplementation(called as never);
}

interface Ran {
  readonly values: unknown;
  /** What reached the outside world, sorted: parallel calls have no order. */
  readonly effects: readonly string[];
}

interface Compiled {
  invoke(input: unknown, config: object): Promise<{ readonly __interrupt__?: readonly unknown[] }>;
  getState(config: object): Promise<{ readonly values: unknown }>;
}
interface Compilable {
  compile(options: { readonly checkpointer: MemorySaver; readonly store: InMemoryStore }): Compiled;
}

const UUID = /^[\da-f]{8}(-[\da-f]{4}){3}-[\da-f]{12}$/;

/** As it is in JSON, where a message tells its class, without the ids that are made up anew in each run. */
const told = (values: unknown): unknown =>
  JSON.parse(JSON.stringify(values), (_key, value: unknown) =>
    typeof value === 'string' && UUID.test(value) ? 'made up' : value,
  ) as unknown;

const whatOf = (effects: readonly Effect[]): readonly string[] => effects.map(({ what }) => what).sort();

/** Runs an example by LangGraph alone. */
async function runPlainly(
  { graph, input, turns = [], answers = [], signals = {}, model = String, ends }: Example,
  dir: string,
): Promise<Ran> {
  const ledger = join(dir, 'plain.jsonl');
  const source = graph(openWorld({ ledger, model })) as Compilable | { readonly builder: Compilable };
  const builder = 'builder' in source ? source.builder : source;
  const compiled = builder.compile({ checkpointer: new MemorySaver(), store: new InMemoryStore() });
  const config = { configurable: { thread_id: 'run' } };
  dontWait(signals);
  try {
    let ran = await compiled.invoke(input, config);
    for (const resume of answers) {
      expect(ran.__interrupt__).toHaveLength(1);
      ran = await compiled.invoke(new Command({ resume }), config);
    }
    for (const next of turns) ran = await compiled.invoke(next, config);
    expect(ran.__interrupt__).toBeUndefined();
    const { values } = await compiled.getState(config);
    expect(values).toMatchObject(ends);
    return { values: told(values), effects: whatOf(effectsIn(ledger)) };
  } finally {
    vi.restoreAllMocks();
  }
}

/** Runs an example by the engine, in this process. */
async function runDurably(example: Example, dir: string): Promise<Ran> {
  const { app, input, turns, answers = [], approvers = [], model = String } = example;
  const ledger = join(dir, 'durable.jsonl');
  const own = app(join(dir, 'durable.sqlite'), openWorld({ ledger, model }));
  try {
    let ran = await passTime(own, await own.run('run', input, turns && { turn: 'm-1' }), example);
    for (const id of approvers) {
      await own.decide(only(ran.gates), { approved: true, by: { kind: 'human', id } });
    }
    if (approvers.length > 0) ran = await own.run('run');
    for (const value of answers) {
      await own.decide(only(ran.gates), { value, by: { kind: 'human', id: 'ada' } });
      ran = await passTime(own, await own.run('run'), example);
    }
    for (const [index, next] of (turns ?? []).entries()) {
      ran = await own.run('run', next, { turn: `m-${index + 2}` });
    }
    expect(ran).toMatchObject({ status: 'completed', reason: null });
    return { values: told(ran.values), effects: whatOf(effectsIn(ledger)) };
  } finally {
    own.close();
  }
}

interface Life {
  readonly signal: string | null;
  readonly stdout: string;
  readonly stderr: string;
}

const PROGRAM = new URL('../../../../examples/graphs/run.ts', import.meta.url);

/** A process that drives an example to its end, or dies right after one of its calls, before that is recorded. */
const live = ([name, dir]: readonly [string, string], diesAfter?: number): Promise<Life> =>
  new Promise((resolve) => {
    const env = {
      ...process.env,
      ...(diesAfter !== undefined && { GRAPH_DIES_AFTER: String(diesAfter) }),
    };
    execFile(process.execPath, [programFile(PROGRAM), name, dir], { env }, (error, stdout, stderr) =>
      resolve({ signal: error?.signal ?? null, stdout, stderr }),
    );
  });

/** Runs an example in a process that dies at a call, and to its end in another. */
async function runKilled(name: string, dir: string, place: number): Promise<Ran> {
  const first = await live([name, dir], place);
  expect(first, first.stderr).toMatchObject({ signal: 'SIGKILL' });
  const ledger = join(dir, 'ledger.jsonl');
  const before = effectsIn(ledger);
  expect(before).toHaveLength(place);
  const recorded = recordedKeys(join(dir, 'state.sqlite'));
  const inFlight = before.filter(({ key }) => !recorded.has(key));
  expect(inFlight).toContainEqual(before.at(-1));

  const second = await live([name, dir]);
  expect(second.stderr).toBe('');
  const { status, reason, values } = JSON.parse(second.stdout) as Record<string, unknown>;
  expect({ status, reason }).toEqual({ status: 'completed', reason: null });
  const again = effectsIn(ledger).slice(place);
  expect(again).toEqual(expect.arrayContaining(inFlight)); // under the same keys
  return {
    values: told(values),
    effects: whatOf([...before.filter(({ key }) => recorded.has(key)), ...again]),
  };
}

/** The calls after which an example is killed: others in each run, all of them if there are no more. */
function placesIn(calls: number, example: number): readonly number[] {
  if (KILLS === 1 && (example + SEED) % 5 !== 0) return [];
  const all = Array.from({ length: calls }, (_, index) => index + 1);
  const length = Math.min(KILLS, calls);
  const some = fc.shuffledSubarray(all, { minLength: length, maxLength: length });
  return fc.sample(some, { seed: SEED, numRuns: 1 }).flat();
}

describe('an example of a graph', () => {
  for (const [index, [name, example]] of Object.entries(examples).entries()) {
    test(`${name} ends as by LangGraph alone, in one process and killed after a call`, async ({
      dbPath,
      annotate,
      task,
    }) => {
      const dir = dirname(dbPath);
      const plain = await runPlainly(example, dir);
      const own = await runDurably(example, dir);
      expect(own.values).toStrictEqual(plain.values);
      // A node that is retried by LangGraph alone makes its calls again.
      expect(own.effects).toStrictEqual([...new Set(plain.effects)]);

      const places = placesIn(own.effects.length, index);
      tried(task, { ways: places.length });
      await annotate(`seed ${SEED}: killed after call ${places.join(', ')} of ${own.effects.length}`);
      for (const place of places) {
        const ended = await runKilled(name, join(dir, String(place)), place);
        expect(ended, `killed after call ${place}`).toStrictEqual(own);
      }
    });
  }
});
