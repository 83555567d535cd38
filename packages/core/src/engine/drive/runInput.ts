// What a turn of a run was started with, as it is kept with the run: its input, which is read until a checkpoint holds it, and
// the options of every drive. A run that is given one input has one turn.

import { isDeepStrictEqual } from 'node:util';
import { isCommand } from '@langchain/langgraph';
import { DevsError } from '../../errors/DevsError.ts';
import type { TypedBytes } from '../../state/checkpoints/checkpointRecords.ts';
import { isRecord } from '../../values/isRecord.ts';
import { type Law, lawOf } from '../execution/lawOf.ts';
import type { EngineStore } from '../gates/EngineStore.ts';
import type { EngineGraph, InvokeOptions, RecordedOptions } from '../graph/EngineGraph.ts';
import type { SqliteSaver } from '../saver/SqliteSaver.ts';
import type { Engine } from './Engine.ts';

/** What a run was started with. */
interface RecordedInput {
  readonly input: unknown;
  readonly options: RecordedOptions;
}

/** Before the type of a row that holds options, too; others are the input alone, as every row of an earlier release. */
const WITH_OPTIONS = 'given:';

/**
 * As it is recorded, once a graph could take it up: what cannot be kept or is too large is refused before there is a row.
 *
 * @throws DevsError `VALUE_NOT_STORABLE`, `VALUE_TOO_LARGE`
 */
export async function dumpGiven(
  { input, options }: RecordedInput,
  threadId: string,
  saver: Pick<SqliteSaver, 'dumpInput'>,
): Promise<TypedBytes> {
  const what = `the input of run "${threadId}"`;
  if (hasNoOptions(options)) return saver.dumpInput(input, what, 'input');
  const { type, bytes } = await saver.dumpInput({ input, options }, what, '');
  return { type: `${WITH_OPTIONS}${type}`, bytes };
}

/** The recorded input of the turn that a run stands in, with its options. */
export const recordedInput = (
  threadId: string,
  { store, saver }: Pick<Engine, 'store' | 'saver'>,
): Promise<RecordedInput> => loadGiven(store.inputs.require(threadId), saver);

/** The recorded options of every drive of a run; an input without options is not read for them. */
export async function recordedOptions(
  threadId: string,
  engine: Pick<Engine, 'store' | 'saver'>,
): Promise<RecordedOptions> {
  const { type = null } = engine.store.inputs.latest(threadId) ?? {};
  return hasOptions(type) ? (await recordedInput(threadId, engine)).options : {};
}

async function loadGiven(
  { type, bytes }: TypedBytes,
  { serde }: Pick<SqliteSaver, 'serde'>,
): Promise<RecordedInput> {
  if (!hasOptions(type)) return { input: await serde.loadsTyped(type, bytes), options: {} };
  return (await serde.loadsTyped(type.slice(WITH_OPTIONS.length), bytes)) as RecordedInput;
}

const hasOptions = (type: string | null): boolean => type?.startsWith(WITH_OPTIONS) === true;

/**
 * The id of a run, or the key of a turn, names what it was given: another input or context under it would never be read.
 * What is left out is what was recorded.
 *
 * @throws DevsError `INPUT_NOT_TAKEN`
 */
export async function assertSameGiven(
  given: TypedBytes,
  recorded: TypedBytes,
  { threadId, turn }: { readonly threadId: string; readonly turn?: string },
  { store, saver }: Pick<Engine, 'saver' | 'store'>,
): Promise<void> {
  const [left, right] = await Promise.all([loadGiven(given, saver), loadGiven(recorded, saver)]);
  if (otherIn(left, right) === null) return;
  const law = lawOf(store.threads.get(threadId));
  const other = otherIn(keptOf(given, left, law), keptOf(recorded, right, law));
  if (other === null) return;
  const [what, instead] =
    turn === undefined
      ? [`Run "${threadId}"`, 'start a new run']
      : [`Turn "${turn}" of run "${threadId}"`, 'use another turn key'];
  throw new DevsError(`${what} was started with different ${other}.`, {
    code: 'INPUT_NOT_TAKEN',
    remedy: `Resume the run by its id alone, or ${instead} for this ${other}.`,
    context: { threadId, ...(turn !== undefined && { turn }) },
  });
}

/** Which of what is given is another one; `null` where all is the same. */
function otherIn(given: RecordedInput, recorded: RecordedInput): string | null {
  if (given.input !== undefined && !isDeepStrictEqual(given.input, recorded.input)) return 'input';
  const { options } = recorded;
  const other = Object.entries(given.options).find(
    ([name, value]) => !isDeepStrictEqual(value, options[name as keyof RecordedOptions]),
  );
  return other?.[0] ?? null;
}

/** The types whose bytes are JSON, with the serializer's tags or without. */
const JSON_TYPE = /^(?:given:)?(?:plain|tagged)$/;

/** As the run compares it: by its JSON, since an instance that was masked is stored with the texts of its mask. */
function keptOf({ type, bytes }: TypedBytes, loaded: RecordedInput, law: Law): RecordedInput {
  if (!JSON_TYPE.test(type)) return loaded;
  const { value } = law.keep(JSON.parse(Buffer.from(bytes).toString()) as unknown);
  const { input, options } = hasOptions(type) ? (value as RecordedInput) : { input: value, options: {} };
  return { input: loaded.input === undefined ? undefined : input, options };
}

/**
 * A `Command` steers a graph past its gates, and a run that has not begun has nothing to steer.
 *
 * @throws DevsError `INVALID_INPUT`
 */
export function assertInput(input: unknown, threadId: string): void {
  if (!isCommand(input)) return;
  throw new DevsError(`The input of run "${threadId}" is a Command.`, {
    code: 'INVALID_INPUT',
    remedy: 'Start the run with values of its state, and answer its gates with decide().',
    context: { threadId },
  });
}

/**
 * A thread with checkpoints that is no run was written by hand: no gate of it was asked, and nobody knows what its state
 * went through.
 *
 * @throws DevsError `THREAD_NOT_OURS`
 */
export function assertIsRun(threadId: string, { threads, checkpoints }: EngineStore): void {
  if (threads.get(threadId) !== null) return;
  if (checkpoints.loadLatest({ threadId, checkpointNs: '' }) === null) return;
  throw new DevsError(`Thread "${threadId}" has checkpoints that were not made by a run.`, {
    code: 'THREAD_NOT_OURS',
    remedy: 'Use another id for the run, or continue this thread with plain LangGraph.',
    context: { threadId },
  });
}

/** LangGraph's names, and those of a driven run: who gives one would drive another run, or none. */
const RESERVED = /^(?:thread_id|checkpoint_|__pregel_|lease(?:_|$)|recursion_base$)/;

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

/**
 * Asks LangGraph, which checks at every call, before a context is recorded that no call would take.
 *
 * @throws DevsError `INVALID_INPUT` with what the schema says.
 */
export async function assertContext(
  graph: Pick<EngineGraph, '_validateContext'>,
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

const NAMES = ['context', 'configurable', 'tags', 'metadata', 'webhook'] as const;

/** What of the options of a call is recorded. */
export function pickInvokeOptions(options: RecordedOptions): RecordedOptions {
  return Object.fromEntries(
    NAMES.flatMap((name) => (options[name] === undefined ? [] : [[name, options[name]]])),
  );
}

export const hasNoOptions = (given: RecordedOptions): boolean => Object.keys(given).length === 0;

/** The run goes on as it is: nothing is given that would be compared with what is recorded. */
export const isIdAlone = (
  input: unknown,
  { turn, ...options }: RecordedOptions & { readonly turn?: string },
): boolean => input === undefined && turn === undefined && hasNoOptions(pickInvokeOptions(options));
