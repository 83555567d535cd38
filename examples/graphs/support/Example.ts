import type { Gate } from '@devs/core/langgraph';
import type { World } from './world.ts';

/** The form that all examples have. */
export interface Example {
  /** The graph, as LangGraph has it, with its effects in steps. */
  graph(world: World): unknown;
  /** The same, durable. */
  app(file: string, world: World): App;
  readonly input: object;
  /** What it is given once that has ended, a turn each: as `m-2`, `m-3`, …, the first as `m-1`. */
  readonly turns?: readonly object[];
  /** The answers to its questions, in their order. */
  readonly answers?: readonly unknown[];
  /** Who says yes at its gate, one after the other. LangGraph alone asks nobody. */
  readonly approvers?: readonly string[];
  /** What it is told while it waits, by the names of the signals. */
  readonly signals?: Readonly<Record<string, unknown>>;
  /** What the model says to a prompt. */
  model?(prompt: string): string;
  /** Some of the values it ends with. */
  readonly ends: object;
}

export interface App {
  run(id: string, input?: unknown, options?: { turn?: string }): Promise<Ran>;
  decide(gate: Gate, answer: ({ value: unknown } | { approved: true }) & { by: Teller }): Promise<unknown>;
  signal(
    id: string,
    name: string,
    payload: unknown,
    told: { by: Teller; signalId: string },
  ): Promise<unknown>;
  stream(
    id: string,
    input: null,
    options: { streamMode: readonly ('updates' | 'custom')[]; after: number },
  ): AsyncIterable<{ readonly seq: number; readonly mode: string }>;
  runDue(options: { now?: number }): Promise<{ readonly driven: readonly Ran[] }>;
  close(): void;
}

interface Teller {
  readonly kind: 'human';
  readonly id: string;
}

export interface Ran {
  readonly status: string;
  readonly reason: string | null;
  readonly gates: readonly Gate[];
  /** When it goes on by itself, in milliseconds since the Unix epoch. */
  readonly until?: number;
  readonly waitsFor?: readonly string[];
  readonly values: unknown;
}
