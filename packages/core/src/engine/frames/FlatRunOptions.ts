import { inspect } from 'node:util';
import type { LangGraphRunnableConfig } from '@langchain/langgraph';
import type { BaseCheckpointSaver } from '@langchain/langgraph-checkpoint';

/** The state of one frame after one super-step; by then it is in the checkpointer. */
export interface FrameCheckpoint {
  readonly threadId: string;
  readonly state: unknown;
}

export interface FlatRunOptions {
  /**
   * Where frames live. A `WindowedSaver` says how many checkpoints stay in memory. @defaultValue the graph's own; without
   * one a temporary file that ends with the call: a question to a human cannot be answered later, nothing can be rewound to.
   */
  readonly checkpointer?: BaseCheckpointSaver;
  /**
   * Thread of the outermost frame. A thread that has begun goes on: its input counts only once. @defaultValue the
   * `thread_id` of `config`, else a new one
   */
  readonly threadId?: string;
  /** Receives every frame's state after each super-step; a `CheckpointWindow` bounds what stays in memory. */
  readonly window?: { push(checkpoint: FrameCheckpoint): void };
  /** Frames that may nest below the outermost one. @defaultValue unlimited */
  readonly maxDepth?: number;
  /** Stops between super-steps, and inside one as far as its node listens. The same call goes on later. */
  readonly signal?: AbortSignal;
  /** Handed to every frame: callbacks, store, run control, and `configurable` such as a lease. */
  readonly config?: LangGraphRunnableConfig;
}

interface OptionExpectation {
  readonly wanted: string;
  readonly holds: (value: unknown) => boolean;
}

const EXPECTATIONS = {
  checkpointer: { wanted: 'to be a checkpointer', holds: isSaver },
  threadId: { wanted: 'to be a text that is not empty', holds: (id) => typeof id === 'string' && id !== '' },
  window: { wanted: 'to have a push function', holds: hasPush },
  maxDepth: { wanted: 'to be a whole number of at least 0', holds: isDepth },
  signal: { wanted: 'to be an AbortSignal', holds: (signal) => signal instanceof AbortSignal },
} as const satisfies { readonly [Name in keyof FlatRunOptions]: OptionExpectation };

/** @throws TypeError naming the option that cannot be what it is, RangeError for `maxDepth`. */
export function assertFlatRunOptions(options: FlatRunOptions): void {
  for (const [name, { wanted, holds }] of Object.entries<OptionExpectation>(EXPECTATIONS)) {
    const value = options[name as keyof FlatRunOptions];
    if (value === undefined || holds(value)) continue;
    const Problem = name === 'maxDepth' ? RangeError : TypeError;
    throw new Problem(`Expected ${name} ${wanted}, got ${inspect(value, { depth: 0 })}.`);
  }
}

/** By its methods: the class may come from another copy of the package. */
export function isSaver(value: unknown): value is BaseCheckpointSaver {
  const methods = ['getTuple', 'list', 'put', 'putWrites', 'deleteThread', 'getNextVersion'];
  const saver = Object(value) as Record<string, unknown>;
  return methods.every((name) => typeof saver[name] === 'function');
}

function hasPush(window: unknown): boolean {
  return typeof (window as FlatRunOptions['window'] | null)?.push === 'function';
}

function isDepth(value: unknown): boolean {
  return value === Number.POSITIVE_INFINITY || (Number.isInteger(value) && Number(value) >= 0);
}
