import type { EndedStatus } from '../../state/threadRecords.ts';
import type { Gate } from '../Gate.ts';

/** LangGraph's modes that a durable run streams. */
export type StreamMode = 'updates' | 'values' | 'custom' | 'messages';

/** What lasts: it has a place in its run, and is in the state file before anybody is given it. */
interface Lasting {
  /** From 1, without a gap. Where a reader goes on: `after`. */
  readonly seq: number;
}

interface OfGraph {
  /** LangGraph's namespace of the graph it is of; empty for the run's own. */
  readonly ns: readonly string[];
}

/** What a task wrote, by the name of its node. */
export interface UpdatesChunk<Update> extends Lasting, OfGraph {
  readonly mode: 'updates';
  readonly data: Readonly<Record<string, Update>>;
}

/** The state after a super-step. */
export interface ValuesChunk<State> extends Lasting, OfGraph {
  readonly mode: 'values';
  readonly data: State;
}

/** What a node gave to `config.writer`. */
export interface CustomChunk extends Lasting, OfGraph {
  readonly mode: 'custom';
  readonly data: unknown;
}

/** The run waits for a human. Told once for each gate. */
export interface GateOpened extends Lasting {
  readonly mode: 'gate';
  readonly gate: Gate;
}

/** The run has ended. One that has failed and is driven again ends again. */
export interface RunEnded extends Lasting {
  readonly mode: 'end';
  readonly status: EndedStatus;
  readonly reason: string | null;
}

/** What a chat model says, piece by piece, in the process that drives alone. It is not kept: the task's result is. */
export interface TokensChunk extends OfGraph, Attempt {
  readonly mode: 'messages';
  /** Of the call of the model: its words belong together. */
  readonly id: string;
  readonly data: string;
}

/** A task is made again: what models said in its attempts before counts for nothing. */
export interface Restarted extends Attempt {
  readonly mode: 'restarted';
}

/** An attempt at a task of the run's own graph. */
interface Attempt {
  readonly task: string;
  readonly node: string;
  /** LangGraph's super-step. */
  readonly step: number;
  /** From 1, in this drive. */
  readonly attempt: number;
}

/** What lasts of a stream. */
export type LastingEvent<State = unknown, Update = unknown> =
  | UpdatesChunk<Update>
  | ValuesChunk<State>
  | CustomChunk
  | GateOpened
  | RunEnded;

/** Chunks of the modes that were asked for, and gates and ends always. What has a `seq` lasts. */
export type StreamEvent<State = unknown, Update = unknown, Mode extends StreamMode = StreamMode> =
  | Extract<UpdatesChunk<Update> | ValuesChunk<State> | CustomChunk | TokensChunk, { readonly mode: Mode }>
  | ('messages' extends Mode ? Restarted : never)
  | GateOpened
  | RunEnded;
