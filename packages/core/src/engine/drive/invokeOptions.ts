import { DevsError } from '../../errors/DevsError.ts';
import { isRecord } from '../isRecord.ts';

/** Options of LangGraph's `invoke` that are recorded with the run's input. */
export interface InvokeOptions {
  /** Value of `runtime.context` in nodes. */
  readonly context?: object;
  /** Values of `config.configurable` in nodes. Names of LangGraph and the engine are rejected. */
  readonly configurable?: Readonly<Record<string, unknown>>;
  readonly tags?: string[];
  readonly metadata?: Readonly<Record<string, unknown>>;
}

const NAMES = ['context', 'configurable', 'tags', 'metadata'] as const;

/** LangGraph's names, and those of a driven run: who gives one would drive another run, or none. */
const RESERVED = /^(?:thread_id|checkpoint_|__pregel_|lease(?:_|$)|recursion_base$)/;

/** What of the options of a call is recorded. */
export function pickInvokeOptions(options: InvokeOptions): InvokeOptions {
  return Object.fromEntries(
    NAMES.flatMap((name) => (options[name] === undefined ? [] : [[name, options[name]]])),
  );
}

export const hasNoOptions = (given: InvokeOptions): boolean => Object.keys(given).length === 0;

/** The run goes on as it is: nothing is given that would be compared with what is recorded. */
export const isIdAlone = (
  input: unknown,
  { turn, ...options }: InvokeOptions & { readonly turn?: string },
): boolean => input === undefined && turn === undefined && hasNoOptions(pickInvokeOptions(options));

/**
 * @throws DevsError `INVALID_INPUT` for a reserved name among `configurable`.
 * @throws TypeError for options that are not of their shape.
 */
export function assertInvokeOptions(
  { context, configurable, tags, metadata }: InvokeOptions,
  threadId: string,
): void {
  for (const [name, value] of Object.entries({ context, configurable, metadata })) {
    if (value !== undefined && !isRecord(value)) throw new TypeError(`${name} must be an object.`);
  }
  if (tags !== undefined && !(Array.isArray(tags) && tags.every((tag) => typeof tag === 'string'))) {
    throw new TypeError('tags must be a list of strings.');
  }
  const reserved = Object.keys(configurable ?? {}).find((name) => RESERVED.test(name));
  if (reserved === undefined) return;
  throw invalidInvokeOption(`configurable.${reserved} is reserved`, threadId);
}

/** A compiled graph that may have a schema for its context. */
export interface ContextGraph {
  /** LangGraph's own check; a test compares it with the installed version. */
  _validateContext?(context: unknown): Promise<unknown>;
}

/**
 * Asks LangGraph, which checks at every call, before a context is recorded that no call would take.
 *
 * @throws DevsError `INVALID_INPUT` with what the schema says.
 */
export async function assertContext(
  graph: ContextGraph,
  { context, configurable }: InvokeOptions,
  threadId: string,
): Promise<void> {
  try {
    await graph._validateContext?.(context ?? configurable ?? {});
  } catch (error) {
    throw invalidInvokeOption(`the context does not match the graph: ${(error as Error).message}`, threadId);
  }
}

function invalidInvokeOption(what: string, threadId: string): DevsError {
  return new DevsError(`Run "${threadId}" cannot be started: ${what}.`, {
    code: 'INVALID_INPUT',
    remedy: 'Start the run with the context that its graph declares, and your own names in configurable.',
    context: { threadId },
  });
}
