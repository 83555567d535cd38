import { Command, isCommand } from '@langchain/langgraph';
import type { GateOpening } from '../guards/TaskFailureGate.ts';

/** Reserved key of a node's update; the runner reads and strips it. */
export const METADATA_KEY = '__metadata__';

export interface NodeMetadata {
  /** How much the task repeats itself, in [0, 1]. */
  readonly entropyScore?: number;
  /** Hands the task to a human whatever its score: why, and what was measured. */
  readonly stuck?: Pick<GateOpening, 'reason' | 'measured'>;
}

type Update = Readonly<Record<string, unknown>>;

/** What a node returned, with its plain updates separated from LangGraph's commands. */
export class NodeOutput {
  readonly #raw: unknown;
  readonly metadata: NodeMetadata;

  constructor(raw: unknown) {
    this.metadata = metadataOf(raw);
    this.#raw = raw;
  }

  /** The state changes in one object; of several commands, the later wins. */
  get update(): Update {
    return Object.assign({}, ...partsOf(this.#raw).map(updateOf)) as Update;
  }

  /** The value for LangGraph, every part's update passed through `change`. */
  map(change: (update: Update, isFirst: boolean) => Update): unknown {
    const parts = partsOf(this.#raw);
    const changed = parts.map((part, index) => withUpdate(part, change(updateOf(part), index === 0)));
    return Array.isArray(this.#raw) ? changed : changed[0];
  }
}

function partsOf(raw: unknown): readonly unknown[] {
  return Array.isArray(raw) ? raw : [raw ?? {}];
}

function updateOf(part: unknown): Update {
  const update = isCommand(part) ? part.update : part;
  if (Array.isArray(update)) return withoutMetadata(Object.fromEntries(update as [string, unknown][]));
  return withoutMetadata((update ?? {}) as Update);
}

function withUpdate(part: unknown, update: Update): unknown {
  if (!isCommand(part)) return update;
  const { goto, graph, resume } = part;
  return new Command({
    update,
    ...(goto && { goto }),
    ...(graph && { graph }),
    ...(resume !== undefined && { resume }),
  });
}

function withoutMetadata(update: Update): Update {
  if (!Object.hasOwn(update, METADATA_KEY)) return update;
  const { [METADATA_KEY]: _stripped, ...rest } = update;
  return rest;
}

function metadataOf(raw: unknown): NodeMetadata {
  const first = Array.isArray(raw) ? raw[0] : raw;
  const update: unknown = isCommand(first) ? first.update : first;
  const metadata = (update as Record<string, unknown> | null | undefined)?.[METADATA_KEY];
  return typeof metadata === 'object' && metadata !== null ? metadata : {};
}
