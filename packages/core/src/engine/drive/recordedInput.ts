import { isDeepStrictEqual } from 'node:util';
import { isCommand } from '@langchain/langgraph';
import type { BaseCheckpointSaver, CheckpointTuple } from '@langchain/langgraph-checkpoint';
import { DevsError } from '../../errors/DevsError.ts';
import type { TypedBytes } from '../../state/checkpointRecords.ts';
import type { GuardedState } from '../channels.ts';
import type { Law } from '../lawOf.ts';
import type { SqliteSaver } from '../saver/SqliteSaver.ts';
import type { DrivenConfig } from './DriverDeps.ts';
import { hasNoOptions, type InvokeOptions } from './invokeOptions.ts';

// What a turn of a run was started with, as it is kept with the run: its input, which is read until a checkpoint holds it, and
// the options of every drive. A run that is given one input has one turn.

type Serde = Pick<BaseCheckpointSaver['serde'], 'loadsTyped'>;

/** What a run was started with. */
export interface RecordedInput {
  readonly input: unknown;
  readonly options: InvokeOptions;
}

/** Before the type of a row that holds options, too; others are the input alone, as every row of an earlier release. */
const WITH_OPTIONS = 'given:';

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

export const hasOptions = (type: string | null): boolean => type?.startsWith(WITH_OPTIONS) === true;

export async function loadGiven({ type, bytes }: TypedBytes, serde: Serde): Promise<RecordedInput> {
  if (!hasOptions(type)) return { input: await serde.loadsTyped(type, bytes), options: {} };
  return (await serde.loadsTyped(type.slice(WITH_OPTIONS.length), bytes)) as RecordedInput;
}

interface Comparing {
  readonly serde: Serde;
  readonly threadId: string;
  readonly turn?: string;
  /** Of the run. */
  readonly law: Law;
}

/** Which of what is given is another one; `null` where all is the same. */
function otherIn(given: RecordedInput, recorded: RecordedInput): string | null {
  if (given.input !== undefined && !isDeepStrictEqual(given.input, recorded.input)) return 'input';
  const { options } = recorded;
  const other = Object.entries(given.options).find(
    ([name, value]) => !isDeepStrictEqual(value, options[name as keyof InvokeOptions]),
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
 * The id of a run, or the key of a turn, names what it was given: another input or context under it would never be read.
 * What is left out is what was recorded.
 *
 * @throws DevsError `INPUT_NOT_TAKEN`
 */
export async function assertSameGiven(
  given: TypedBytes,
  recorded: TypedBytes,
  { serde, threadId, turn, law }: Comparing,
): Promise<void> {
  const [left, right] = await Promise.all([loadGiven(given, serde), loadGiven(recorded, serde)]);
  if (otherIn(left, right) === null) return;
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

/** What a `Command` writes without a task: LangGraph puts it into the channels before the input. */
const NO_TASK = '00000000-0000-0000-0000-000000000000';

/** LangGraph's own steps between a checkpoint and the first nodes of the next input: the input's and START's. */
const STEPS_OF_INPUT = 2;

/**
 * Makes the latest checkpoint of a run ready for the input of its next turn: the guards begin anew with it, and no question
 * of the turn before is left in their channels.
 *
 * May be repeated: a driver that died before the input was taken up has left the same.
 */
export async function onLastTurn(
  config: DrivenConfig,
  { checkpoint, metadata }: CheckpointTuple,
  saver: BaseCheckpointSaver,
): Promise<void> {
  const anew: Required<GuardedState> = {
    pendingSuspension: null,
    progressStep: (metadata?.step ?? 0) + STEPS_OF_INPUT,
  };
  const at = { configurable: { ...config.configurable, checkpoint_ns: '', checkpoint_id: checkpoint.id } };
  await saver.putWrites(at, Object.entries(anew), NO_TASK);
}
