import type { World } from './World.ts';

/** A graph of an author, and all that is needed to run it: by LangGraph alone, by the engine, in a process that dies. */
export interface Program {
  /** A builder, or what its `compile` made. */
  build(world: World): unknown;
  readonly input: unknown;
  /** What a human says to a question: of what it shows alone, so that it is the same however often it is asked. */
  answer?(asked: unknown): unknown;
  /** Answers one question at a time, where several wait. @defaultValue all that wait */
  readonly oneByOne?: boolean;
  /** Changes messages in place: what LangGraph alone has streamed is something else when it is read. @defaultValue false */
  readonly changesInPlace?: boolean;
}

export type Programs = Readonly<Record<string, Program>>;
