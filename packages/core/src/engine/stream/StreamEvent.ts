import type { BaseMessage } from '@langchain/core/messages';
import type { EndedStatus } from '../../state/threads/threadRecords.ts';
import type { Gate } from '../gates/Gate.ts';

/** LangGraph's modes that a durable run streams. */
export type StreamMode = 'updates' | 'values' | 'custom' | 'messages';

/** A stored event: it has a position in its run and is in the state file before a reader receives it. */
interface Lasting {
  /** Position, from 1 without gaps. Continue with `after`. */
  readonly seq: number;
}

interface OfGraph {
  /** LangGraph's namespace of its graph; empty for the run's own graph. */
  readonly ns: readonly string[];
}

/** A task's writes, by node name. */
export interface UpdatesChunk<Update> extends Lasting, OfGraph {
  readonly mode: 'updates';
  readonly data: Readonly<Record<string, Update>>;
}

/** The state after a super-step. */
export interface ValuesChunk<State> extends Lasting, OfGraph {
  readonly mode: 'values';
  readonly data: State;
  /** LangGraph's checkpoint with this state; absent for a graph inside a node that keeps none. `parentId`: the one before. */
  readonly checkpoint?: {
    readonly id: string;
    readonly parentId?: string;
    readonly step: number;
    readonly source: 'input' | 'loop' | 'update' | 'fork';
  };
}

/** The argument of `config.writer`. */
export interface CustomChunk extends Lasting, OfGraph {
  readonly mode: 'custom';
  readonly data: unknown;
}

/** The run waits for a person. Once per gate. */
export interface GateOpenedEvent extends Lasting {
  readonly mode: 'gate';
  readonly gate: Gate;
}

/** The run has ended. A failed run that is run again ends again. */
export interface RunEnded extends Lasting {
  readonly mode: 'end';
  readonly status: EndedStatus;
  readonly reason: string | null;
  /** Key of the turn that has ended, in a run with turns. */
  readonly turn?: string;
}

/** A turn begins. Only with `overTurns`. */
export interface TurnBegun extends Lasting {
  readonly mode: 'turn';
  readonly turn: string;
}

/** A piece of a chat model's message, in the process that executes the run only. It is not stored: the task's result is. */
export interface TokensChunk extends OfGraph, NodeAttempt {
  readonly mode: 'messages';
  /** Id of the model call; its pieces belong together. */
  readonly id: string;
  /** Its number among the pieces of the call, from 0. */
  readonly piece: number;
  /** Its text; empty for a piece without text, such as one of a tool call. */
  readonly data: string;
  /**
   * The piece as LangChain has it, with the id of the message and the chunks of its tool calls. Not in a stream of `maskStream`.
   */
  readonly chunk?: BaseMessage;
  /** LangGraph's metadata of the model call. Not in a stream of `maskStream`. */
  readonly metadata?: Readonly<Record<string, unknown>>;
}

/** A task runs again: ignore the model text of its earlier attempts. */
export interface RestartedEvent extends NodeAttempt {
  readonly mode: 'restarted';
}

/** An attempt at a task of the run's own graph. */
interface NodeAttempt {
  readonly task: string;
  readonly node: string;
  /** LangGraph's super-step. */
  readonly step: number;
  /** Starts at 1 in this execution. */
  readonly attempt: number;
}

/** The stored events of a stream. */
export type LastingEvent<State = unknown, Update = unknown> =
  | UpdatesChunk<Update>
  | ValuesChunk<State>
  | CustomChunk
  | GateOpenedEvent
  | TurnBegun
  | RunEnded;

/** Events of the requested modes, and always gates and ends. Events with a `seq` are stored. */
export type StreamEvent<State = unknown, Update = unknown, Mode extends StreamMode = StreamMode> =
  | Extract<UpdatesChunk<Update> | ValuesChunk<State> | CustomChunk | TokensChunk, { readonly mode: Mode }>
  | ('messages' extends Mode ? RestartedEvent : never)
  | GateOpenedEvent
  | TurnBegun
  | RunEnded;
