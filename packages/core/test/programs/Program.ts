import type { World } from './World.ts';

/** A graph of an author, and all that is needed to run it: by LangGraph alone, by the engine, in a process that dies. */
export interface Program {
  /** A builder, what its `compile` made, or an entrypoint. */
  build(world: World): unknown;
  readonly input: unknown;
  /** Inputs of further turns on the same thread. @defaultValue none */
  readonly turns?: readonly unknown[];
  /** Whether a task that threw is tried again by hand: LangGraph is called once more without an input. @defaultValue false */
  readonly triesAgain?: boolean;
  /** What a human says to a question: of what it shows alone, so that it is the same however often it is asked. */
  answer?(asked: unknown): unknown;
  /** Answers one question at a time, where several wait. @defaultValue all that wait */
  readonly oneByOne?: boolean;
  /** Whether it comes to the same end where its process dies. @defaultValue true */
  readonly isKilled?: boolean;
  /** Changes messages in place: what LangGraph alone has streamed is something else when it is read. @defaultValue false */
  readonly changesInPlace?: boolean;
}

export type Programs = Readonly<Record<string, Program>>;
