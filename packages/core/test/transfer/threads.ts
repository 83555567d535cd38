// A program by LangGraph alone until it has stopped so many times, and from there on: by LangGraph, or by a run.
import { randomInt } from 'node:crypto';
import { Command } from '@langchain/langgraph';
import type { BaseCheckpointSaver } from '@langchain/langgraph-checkpoint';
import { openQuestions } from '../../src/engine/saver/openQuestions.ts';
import { described } from '../programs/described.ts';
import type { Program } from '../programs/Program.ts';
import { programs } from '../programs/programs.ts';
import type { World } from '../programs/World.ts';

/** A world without a ledger: effects have no trace, and a service is down so many times in this process. */
export function freshWorld(): World {
  const asked = new Map<string, number>();
  return {
    effect: async (_name, what, result) => (result ?? `done: ${what}`) as never,
    isDown: (service, times) => {
      const before = asked.get(service) ?? 0;
      asked.set(service, before + 1);
      return before < times;
    },
    call: async (what) => `‹${what}›`,
    inTurn: (call) => call,
    inTask: async (what) => `done: ${what}`,
    visit: () => {},
  };
}

export interface Compiled {
  invoke(
    input: unknown,
    config: object,
  ): Promise<{ readonly __interrupt__?: readonly { readonly id: string; readonly value: unknown }[] }>;
  getState(
    config: object,
    options?: object,
  ): Promise<{
    readonly values: unknown;
    readonly tasks: readonly unknown[];
    readonly next: readonly string[];
  }>;
}

interface Compilable {
  compile(options: object): Compiled;
}

const MAX_STOPS = 20;

/** Topics and programs whose threads an import does not take whole: those with waiting tasks, and those with checkpoints under other ids. */
const NOT_WHOLE: ReadonlySet<string> = new Set([
  'functional',
  'threads',
  'ownInterrupts: questions in tasks',
]);

/** The programs whose threads are carried over, by topic and name. */
export const transferred = Object.entries(programs)
  .filter(([topic]) => !NOT_WHOLE.has(topic))
  .flatMap(([topic, each]) =>
    Object.entries(each).map(([name, program]): [string, Program] => [`${topic}: ${name}`, program]),
  )
  .filter(([name]) => !NOT_WHOLE.has(name));

/** Some of them, others each time, of every topic. */
export function someOf<T>(all: readonly T[], count: number): readonly T[] {
  const [first, stride] = [randomInt(all.length), Math.max(1, Math.floor(all.length / count))];
  return [...all.keys()].filter((at) => at % stride === first % stride).map((at) => all[at] as T);
}

export const at = (threadId: string) => ({
  configurable: { thread_id: threadId },
  durability: 'sync' as const,
});

export function compiledWith({ build }: Program, saver: BaseCheckpointSaver, world = freshWorld()): Compiled {
  const source = build(world) as Compilable & { readonly builder?: Compilable };
  return (source.builder ?? source).compile({ checkpointer: saver });
}

export interface PlainEnd {
  readonly asked: readonly (readonly unknown[])[];
  /** Absent where what the last super-step wrote cannot be read. */
  readonly values?: unknown;
  readonly error: string | null;
}

type Open = readonly { readonly id: string; readonly value: unknown }[];

/** Of interrupts, in an order of their own. */
const sorted = (open: Open): Open =>
  open.toSorted((a, b) =>
    JSON.stringify(described(a.value)).localeCompare(JSON.stringify(described(b.value))),
  );

/** @param stops - How often it is answered before it is left waiting. @defaultValue until it ends */
export async function begin(
  graph: Compiled,
  { input, ...program }: Pick<Program, 'input' | 'answer' | 'oneByOne'>,
  { threadId, stops = MAX_STOPS }: { readonly threadId: string; readonly stops?: number },
): Promise<PlainEnd> {
  return following(graph, program, { threadId, stops, first: () => graph.invoke(input, at(threadId)) });
}

/** Goes on with what {@link begin} has left, to its end. */
export async function goOn(
  graph: Compiled,
  program: Pick<Program, 'answer' | 'oneByOne'>,
  { saver, threadId }: { readonly saver: BaseCheckpointSaver; readonly threadId: string },
): Promise<PlainEnd> {
  const { tasks } = await graph.getState(at(threadId)).catch(() => ({ tasks: [null] }));
  const tuple = await saver.getTuple(at(threadId));
  const asked = tuple === undefined ? [] : openQuestions(tuple); // LangGraph's tasks list answered ones, too
  const open = asked.map(({ interruptId: id, value }) => ({ id, value }));
  const first = async () => {
    if (open.length > 0) return { __interrupt__: open };
    return tasks.length === 0 ? {} : graph.invoke(null, at(threadId));
  };
  return following(graph, program, { threadId, stops: MAX_STOPS, first });
}

interface Following {
  readonly threadId: string;
  readonly stops: number;
  readonly first: () => Promise<{ readonly __interrupt__?: Open }>;
}

async function following(
  graph: Compiled,
  { answer = String, oneByOne = false }: Pick<Program, 'answer' | 'oneByOne'>,
  { threadId, stops, first }: Following,
): Promise<PlainEnd> {
  const asked: unknown[][] = [];
  let error: string | null = null;
  try {
    let { __interrupt__: open = [] } = await first();
    for (let stop = 0; open.length > 0; stop += 1) {
      const questions = sorted(open);
      asked.push(questions.map(({ value }) => described(value)));
      if (stop >= stops) break;
      const answered = oneByOne ? questions.slice(0, 1) : questions;
      const resume = Object.fromEntries(answered.map(({ id, value }) => [id, answer(value)]));
      ({ __interrupt__: open = [] } = await graph.invoke(new Command({ resume }), at(threadId)));
    }
  } catch (thrown) {
    error = (thrown as Error).message;
  }
  const state = await graph.getState(at(threadId)).catch(() => null);
  return { asked, ...(state !== null && { values: described(state.values) }), error };
}

interface App {
  run(
    id: string,
    input: undefined,
    options: object,
  ): Promise<{
    readonly status: string;
    readonly reason: string | null;
    readonly gates: readonly { readonly sessionId: string; readonly artifact: unknown }[];
  }>;
  decide(gate: never, answer: object): Promise<unknown>;
  values(id: string): Promise<unknown>;
}

/** Goes on with a run to its end. */
export async function runFrom(
  app: App,
  { answer = String, oneByOne = false }: Pick<Program, 'answer' | 'oneByOne'>,
  threadId: string,
): Promise<PlainEnd> {
  const asked: unknown[][] = [];
  let ran = await app.run(threadId, undefined, { throwOnFailure: false });
  for (let stop = 0; ran.status === 'waiting' && stop < MAX_STOPS; stop += 1) {
    const gates = ran.gates.toSorted((a, b) =>
      JSON.stringify(described(a.artifact)).localeCompare(JSON.stringify(described(b.artifact))),
    );
    asked.push(gates.map(({ artifact }) => described(artifact)));
    for (const gate of oneByOne ? gates.slice(0, 1) : gates)
      await app.decide(gate as never, { value: answer(gate.artifact), by: { kind: 'human', id: 'ada' } });
    ran = await app.run(threadId, undefined, { throwOnFailure: false });
  }
  const error = ran.status === 'completed' ? null : ran.reason;
  return { asked, values: described(await app.values(threadId)), error };
}
