import type { RunnableConfig } from '@langchain/core/runnables';
import type { LangGraphRunnableConfig } from '@langchain/langgraph';
import { attemptOf } from './toolCalls.ts';

/** Graphs that one attempt at a task may begin. */
const NUMBERS = 1_000_000;

/** LangGraph's counters of a task. */
interface TaskScratchpad {
  interruptCounter: number;
  subgraphCounter: number;
}

/** A task, as LangGraph tells what runs in it. */
interface TaskMetadata {
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
  /** From 0: which of the graphs that one attempt at the task around it has begun. */
  readonly index: number;
  /** Whether that was a retry. */
  readonly isAnew: boolean;
  /** `null` where a graph keeps no checkpoints, and what runs in it said nothing. */
  readonly told: TaskMetadata | null;
}

/**
 * The graphs inside one execution of a node. A task numbers the graphs that it begins, in their namespaces; LangGraph
 * counts on from one attempt to the next. Each attempt is given numbers of its own: when the node runs again, as a first
 * attempt, no other graph stands in the namespace of the one it begins, and which one that is can be told.
 */
export class InnerRuns {
  /** The namespace of the node's own task. */
  readonly taskNs: string;
  readonly #told = new Map<string, TaskMetadata>();
  /** Threads of the graphs, by their namespaces. */
  readonly #threads = new Map<string, string>();

  /** @param config - The node's, before its work begins. */
  constructor(config: LangGraphRunnableConfig) {
    this.taskNs = String(config.configurable?.['checkpoint_ns'] ?? '');
    const scratchpad = scratchpadOf(config);
    const retries = (attemptOf(config) ?? 1) - 1;
    if (retries > 0 && scratchpad !== undefined) numberAnew(scratchpad, retries);
  }

  /** A task in this visit begins a graph, and looks for its checkpoint with this config. */
  begins(config: LangGraphRunnableConfig): void {
    const scratchpad = scratchpadOf(config);
    const graphNs = String(config.configurable?.['checkpoint_ns'] ?? '');
    if (scratchpad === undefined || this.#threads.has(graphNs)) return;
    this.#threads.set(graphNs, String(config.configurable?.['thread_id'] ?? ''));
    const callerNs = graphNs.replace(/\|\d+$/, '');
    const told = toldOf(config, callerNs);
    if (callerNs === this.taskNs || told === null || this.#told.has(callerNs)) return;
    this.#told.set(callerNs, told);
    numberApart(scratchpad);
  }

  /** Whether a graph in this visit has looked for its checkpoint: then it keeps them. */
  keeps(graphNs: string): boolean {
    return this.#threads.has(graphNs);
  }

  /** The way to a task, which is the one around this code; `null` where its namespace does not lead there. */
  wayTo(taskNs: string, config: RunnableConfig): readonly InnerLevel[] | null {
    if (!taskNs.startsWith(`${this.taskNs}|`)) return null;
    const levels: InnerLevel[] = [];
    let graphNs = this.taskNs;
    let number = 0;
    for (const segment of taskNs.slice(this.taskNs.length + 1).split('|')) {
      const end = segment.lastIndexOf(':');
      if (end === -1) {
        number = Number(segment);
        graphNs += `|${segment}`;
        continue;
      }
      const [name, taskId] = [segment.slice(0, end), segment.slice(end + 1)];
      const innerNs = `${graphNs}|${segment}`;
      const told = innerNs === taskNs ? toldOf(config, taskNs) : (this.#told.get(innerNs) ?? null);
      const threadId = this.#threads.get(graphNs) ?? null;
      levels.push({
        graphNs,
        threadId,
        name,
        taskId,
        index: number % NUMBERS,
        isAnew: number >= NUMBERS,
        told,
      });
      graphNs = innerNs;
      number = 0;
    }
    return levels;
  }
}

/** Whether a task on the way was retried after it had begun graphs: what is inside was perhaps run before. */
export const isRunAnew = (way: readonly InnerLevel[]): boolean => way.some(({ isAnew }) => isAnew);

/** The names on the way, with the numbers that LangGraph gives the further graphs of a task. */
export const namesOn = (way: readonly InnerLevel[]): readonly string[] =>
  way.flatMap(({ index, name }) => (index === 0 ? [name] : [String(index), name]));

/** The namespace of one of the graphs that a task begins, counted from 0. */
export const innerGraphNs = (callerNs: string, index: number): string =>
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

function toldOf({ configurable = {}, metadata = {} }: RunnableConfig, taskNs: string): TaskMetadata | null {
  const { langgraph_step: step, langgraph_path: path, langgraph_triggers: triggers } = metadata;
  if (typeof step !== 'number' || !Array.isArray(path) || !Array.isArray(triggers)) return null;
  const graphNs = taskNs.slice(0, Math.max(0, taskNs.lastIndexOf('|')));
  const ids = (configurable['checkpoint_map'] ?? {}) as Readonly<Record<string, unknown>>;
  return { step, path, triggers, checkpointId: String(ids[graphNs] ?? '') };
}

const scratchpadOf = ({ configurable }: RunnableConfig): TaskScratchpad | undefined =>
  configurable?.['__pregel_scratchpad'] as TaskScratchpad | undefined;

/** LangGraph sets back the counter of the questions, and no other, when it retries a task: nothing else tells of it. */
function numberApart(scratchpad: TaskScratchpad): void {
  let questions = scratchpad.interruptCounter;
  let retries = 0;
  Object.defineProperty(scratchpad, 'interruptCounter', {
    configurable: true,
    enumerable: true,
    get: () => questions,
    set: (count: number) => {
      questions = count;
      if (count >= 0) return;
      retries += 1;
      numberAnew(scratchpad, retries);
    },
  });
}

/** Where no attempt has begun a graph, the next one is the first: what it leaves is gone on with when the node runs again. */
function numberAnew(scratchpad: TaskScratchpad, retries: number): void {
  if (scratchpad.subgraphCounter > 0) scratchpad.subgraphCounter = retries * NUMBERS;
}
