import type { RunnableConfig } from '@langchain/core/runnables';
import type { LangGraphRunnableConfig } from '@langchain/langgraph';
import { attemptOf, currentToolCall } from './toolCalls.ts';

/** A task, as LangGraph tells what runs in it. */
export interface TaskTold {
  readonly step: number;
  /** Which of the tasks of its super-step. */
  readonly path: readonly unknown[];
  readonly triggers: readonly unknown[];
  /** The checkpoint it starts from. */
  readonly checkpointId: string;
}

/** A task on the way from a visit's node to a step inside, outermost first. */
export interface InnerLevel {
  /** Of the graph that the task is in. */
  readonly graphNs: string;
  readonly threadId: string | null;
  readonly name: string;
  readonly taskId: string;
  /** From 0: which of the graphs that the task around it has begun in its latest attempt. */
  readonly index: number;
  /** From 0: the same over all its attempts, as the namespace says. */
  readonly countedIndex: number;
  /** `null` where a graph keeps no checkpoints, and what runs in it said nothing. */
  readonly told: TaskTold | null;
}

/** A task that has begun graphs, in its latest attempt. */
interface Caller {
  readonly told: TaskTold;
  readonly attempt: number;
  /** Graphs that its other attempts have begun. */
  readonly before: number;
}

/** A graph that a task has begun. */
interface Begun {
  readonly threadId: string;
  /** From 0, within the attempt. */
  readonly index: number;
}

/**
 * The graphs inside one execution of a node. LangGraph numbers the graphs that a task begins on from one attempt to the
 * next, so what a retried task begins has another namespace than the same graph had in the attempt before.
 */
export class InnerRuns {
  /** The namespace of the node's own task. */
  readonly taskNs: string;
  readonly #before: number;
  readonly #callers = new Map<string, Caller>();
  readonly #begun = new Map<string, Begun>();

  /** @param config - The node's, before its work begins. */
  constructor({ configurable = {} }: RunnableConfig) {
    this.taskNs = String(configurable['checkpoint_ns'] ?? '');
    this.#before = begunSoFar(configurable);
  }

  /** A task in this visit begins a graph, and looks for its checkpoint with this config. */
  begins(config: LangGraphRunnableConfig): void {
    const { configurable = {} } = config;
    const graphNs = String(configurable['checkpoint_ns'] ?? '');
    if (configurable['__pregel_scratchpad'] === undefined || this.#begun.has(graphNs)) return;
    const callerNs = graphNs.replace(/\|\d+$/, '');
    const counted = graphNs === callerNs ? 0 : Number(graphNs.slice(callerNs.length + 1));
    const before = callerNs === this.taskNs ? this.#before : this.#begunBefore(config, callerNs, counted);
    const threadId = String(configurable['thread_id'] ?? '');
    this.#begun.set(graphNs, { threadId, index: counted - before });
  }

  /** The way to a task, which is the one around this code; `null` where its namespace does not lead there. */
  wayTo(taskNs: string, config: RunnableConfig): readonly InnerLevel[] | null {
    if (!taskNs.startsWith(`${this.taskNs}|`)) return null;
    const levels: InnerLevel[] = [];
    let callerNs = this.taskNs;
    let graphNs = this.taskNs;
    let countedIndex = 0;
    for (const segment of taskNs.slice(this.taskNs.length + 1).split('|')) {
      const [name = '', taskId] = segment.split(':');
      if (taskId === undefined) {
        countedIndex = Number(name);
        graphNs = `${callerNs}|${name}`;
        continue;
      }
      const index = this.#indexOf(graphNs, callerNs, countedIndex);
      callerNs = `${graphNs}|${segment}`;
      const told = callerNs === taskNs ? toldOf(config, taskNs) : (this.#callers.get(callerNs)?.told ?? null);
      const threadId = this.#begun.get(graphNs)?.threadId ?? null;
      levels.push({ graphNs, threadId, name, taskId, index, countedIndex, told });
      graphNs = callerNs;
      countedIndex = 0;
    }
    return levels;
  }

  /** Of the graphs that a task has begun, how many were begun in attempts before this one. */
  #begunBefore(config: LangGraphRunnableConfig, callerNs: string, counted: number): number {
    const attempt = attemptOf(config) ?? currentToolCall().attempt;
    const known = this.#callers.get(callerNs);
    if (known?.attempt === attempt) return known.before;
    if (known !== undefined && attempt < known.attempt) {
      // An attempt that has failed goes on beside the one that took its place.
      this.#callers.set(callerNs, { ...known, before: known.before + 1 });
      return 0;
    }
    const before = attempt === 1 ? 0 : counted;
    const told = toldOf(config, callerNs);
    if (told !== null) this.#callers.set(callerNs, { told, attempt, before });
    return before;
  }

  /** What keeps no checkpoints was not seen to begin: only the node's own attempts are told apart there. */
  #indexOf(graphNs: string, callerNs: string, counted: number): number {
    const before = callerNs === this.taskNs ? this.#before : 0;
    return this.#begun.get(graphNs)?.index ?? counted - before;
  }
}

/** Whether a task on the way was retried after it had begun graphs: what is inside was perhaps run before. */
export const isRunAnew = (way: readonly InnerLevel[]): boolean =>
  way.some(({ index, countedIndex }) => index !== countedIndex);

/** The names on the way, with the numbers that LangGraph gives the further graphs of a task. */
export const namesOn = (way: readonly InnerLevel[]): readonly string[] =>
  way.flatMap(({ index, name }) => (index === 0 ? [name] : [String(index), name]));

/** The namespace of one of the graphs that a task begins, counted from 0. */
export const graphNsOf = (callerNs: string, index: number): string =>
  index === 0 ? callerNs : `${callerNs}|${index}`;

/**
 * What tells the place at the end of a way from all others of its visit, the same in every attempt; `null` where a task
 * on the way is not known well enough.
 */
export function relativePlace(way: readonly InnerLevel[]): string | null {
  const parts = way.map(({ index, name, told }) => {
    if (told === null) return null;
    const branch = told.path.flat(Number.POSITIVE_INFINITY).filter((part) => typeof part !== 'boolean');
    return [index, name, told.step, ...branch].map((part) => encodeURIComponent(String(part))).join('#');
  });
  return parts.includes(null) ? null : `~${parts.join('|')}`;
}

function toldOf({ configurable = {}, metadata = {} }: RunnableConfig, taskNs: string): TaskTold | null {
  const { langgraph_step: step, langgraph_path: path, langgraph_triggers: triggers } = metadata;
  if (typeof step !== 'number' || !Array.isArray(path) || !Array.isArray(triggers)) return null;
  const graphNs = taskNs.slice(0, Math.max(0, taskNs.lastIndexOf('|')));
  const ids = (configurable['checkpoint_map'] ?? {}) as Readonly<Record<string, unknown>>;
  return { step, path, triggers, checkpointId: String(ids[graphNs] ?? '') };
}

function begunSoFar(configurable: Readonly<Record<string, unknown>>): number {
  const scratchpad = configurable['__pregel_scratchpad'] as { readonly subgraphCounter?: number } | undefined;
  return scratchpad?.subgraphCounter ?? 0;
}
