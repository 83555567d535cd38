import type { Callbacks } from '@langchain/core/callbacks/manager';
import type { RunnableConfig } from '@langchain/core/runnables';
import type { RunControl, StateSnapshot } from '@langchain/langgraph';
import type { CheckpointListOptions } from '@langchain/langgraph-checkpoint';
import type { DrivenConfigurable } from '../execution/nodeExecution.ts';

/** Options of LangGraph's `invoke` that are recorded with the run's input. */
export interface InvokeOptions {
  /** Value of `runtime.context` in nodes. */
  readonly context?: object;
  /** Values of `config.configurable` in nodes. Names of LangGraph and the engine are rejected. */
  readonly configurable?: Readonly<Record<string, unknown>>;
  readonly tags?: string[];
  readonly metadata?: Readonly<Record<string, unknown>>;
}

/** Options that are recorded with the input of a turn. */
export interface RecordedOptions extends InvokeOptions {
  /** Name of a webhook of the app that hears when the run ends, as of LangGraph's server. */
  readonly webhook?: string;
}

/** What the driver gives LangGraph with every call. */
export interface DrivenConfig extends Omit<InvokeOptions, 'configurable'> {
  readonly configurable: DrivenConfigurable;
  readonly callbacks?: Callbacks;
  readonly control?: RunControl;
  readonly signal?: AbortSignal;
  readonly interruptAfter?: '*' | string[];
  readonly writer?: (chunk: unknown) => void;
  readonly outputKeys?: string | readonly string[];
  readonly streamMode?: string[];
}

/** A run at one of its checkpoints, in LangGraph's form; without `metadata` before the first one. */
export interface RunSnapshot<State> extends Omit<StateSnapshot, 'values'> {
  readonly values: State;
}

/** A task of the next super-step, as LangGraph describes it. */
export type PendingTask = Pick<StateSnapshot['tasks'][number], 'id' | 'name'>;

/** The part of a graph that the engine uses: every graph that LangGraph has compiled has it. */
export interface EngineGraph {
  readonly nodes: Readonly<Record<string, unknown>>;
  readonly channels: Readonly<Record<string, unknown>>;
  /** Names of the channels that it streams. */
  readonly streamChannelsAsIs?: string | readonly string[];
  /** Graphs that are nodes, at any depth with `recurse`, by the names of the nodes that lead to them: `sub|inner`. */
  getSubgraphs?(
    namespace?: string,
    recurse?: boolean,
  ): Iterable<
    readonly [
      path: string,
      graph: Pick<EngineGraph, 'channels' | 'nodes' | 'streamChannelsAsIs' | 'getState' | 'updateState'>,
    ]
  >;
  invoke(input: unknown, config: DrivenConfig): Promise<unknown>;
  getState(config: RunnableConfig, options?: { readonly subgraphs?: boolean }): Promise<RunSnapshot<unknown>>;
  getStateHistory(
    config: RunnableConfig,
    options?: CheckpointListOptions,
  ): AsyncIterable<RunSnapshot<unknown>>;
  updateState(config: RunnableConfig, values: unknown, asNode?: string): Promise<RunnableConfig>;
  /** LangGraph's own check of a context; a test compares it with the installed version. */
  _validateContext?(context: unknown): Promise<unknown>;
}
