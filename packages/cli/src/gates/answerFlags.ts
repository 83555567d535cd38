import type { Gate } from '@devs/core';
import { BUDGET_MEASURES } from '@devs/core/internal';
import { optionOf, type RaiseFlags, raiseFrom } from '../flags/budgetFlags.ts';
import { usageError } from '../usageError.ts';
import type { ChoiceName, GateAnswerForm } from './gateLabels.ts';
import { isPassedBudget } from './passedBudget.ts';
import type { Decision } from './recordDecision.ts';

/** The options of `devs answer`. */
export interface AnswerFlags extends RaiseFlags {
  readonly retry?: true;
  readonly skip?: true;
  readonly continue?: true;
  readonly use?: true;
  readonly repeat?: true;
  readonly again?: true;
  readonly firstTask?: true;
  readonly accept?: true;
  /** With `accept`: which of the failures. */
  readonly failure?: readonly string[];
  readonly abort?: true;
  /** JSON. */
  readonly value?: string;
  /** JSON. */
  readonly edit?: string;
  readonly guidance?: string;
  readonly reason?: string;
}

/**
 * The one answer that the flags name; `null` when they name none.
 *
 * @throws DevsError `CONFIG_INVALID` for several answers at once, or words that do not go with the answer.
 */
export function decisionFrom(flags: AnswerFlags): Decision | null {
  const choices = choicesIn(flags);
  const [choice, ...others] = choices;
  if (others.length > 0) {
    throw usageError(`${choices.join(' and ')} are different answers.`, 'Use one of them.');
  }
  const { guidance, reason } = flags;
  if (guidance !== undefined && choice !== 'retry') {
    throw usageError('--guidance needs --retry.', 'Add --retry, or remove --guidance.');
  }
  if (flags.failure !== undefined && choice !== 'accept') {
    throw usageError('--failure needs --accept.', 'Add --accept, or remove --failure.');
  }
  if (reason !== undefined && choice !== 'skip' && choice !== 'abort') {
    throw usageError('--reason needs --skip or --abort.', 'Add --skip or --abort, or remove --reason.');
  }
  return choice === undefined ? null : decisionFromFlags(choice, flags);
}

/** The decision that a choice and its words make. */
export function decisionFromFlags(choice: ChoiceName, flags: AnswerFlags): Decision {
  if (choice === 'value') return { choice, answer: { value: parseValue(flags.value ?? '') } };
  if (choice === 'version') return { choice, answer: { edit: parseValue(flags.edit ?? '', '--edit') } };
  const { guidance, reason } = flags;
  const { failure: failures } = flags;
  const answer: GateAnswerForm = {
    action: choice,
    guidance,
    reason,
    ...(choice === 'accept' && { failures }),
    ...(choice === 'raise' && raiseFrom(flags)),
  };
  return { choice, answer };
}

/** @throws DevsError `CONFIG_INVALID` for a text that is no JSON. */
function parseValue(text: string, flag: '--value' | '--edit' = '--value'): unknown {
  try {
    return JSON.parse(text) as unknown;
  } catch (error) {
    throw usageError(
      `The value is not valid JSON: ${(error as Error).message}`,
      `Enter JSON, in quotes for the shell: ${flag} true, ${flag} '"a text"', ${flag} '{ "to": "ada" }'.`,
      error,
    );
  }
}

function choicesIn({
  retry,
  skip,
  continue: goOn,
  use,
  repeat,
  again,
  firstTask,
  accept,
  abort,
  ...flags
}: AnswerFlags): readonly ChoiceName[] {
  const given: readonly (readonly [ChoiceName, unknown])[] = [
    ['retry', retry],
    ['skip', skip],
    ['continue', goOn],
    ['raise', raiseFrom(flags)],
    ['use', use],
    ['repeat', repeat],
    ['again', again],
    ['first-task', firstTask],
    ['accept', accept],
    ['abort', abort],
    ['value', flags.value],
    ['version', flags.edit],
  ];
  return given.filter(([, value]) => value !== undefined).map(([name]) => name);
}

/** Asks a person; `null` when the input ended. */
export type Read = (question: string) => Promise<string | null>;

/** What goes with a choice; `null` when the input ended before it was said. */
export async function wordsFor(
  choice: ChoiceName,
  gate: Pick<Gate, 'artifact'>,
  read: Read,
): Promise<AnswerFlags | null> {
  return (ASKED[choice] ?? noFlags)(read, gate);
}

type AskAnswer = (read: Read, gate: Pick<Gate, 'artifact'>) => Promise<AnswerFlags | null>;

const noFlags: AskAnswer = async () => ({});

const why: AskAnswer = async (read) =>
  flagsFromLine(await read('reason for the record (optional)'), (reason) => ({ reason }));

const ASKED: Readonly<Partial<Record<ChoiceName, AskAnswer>>> = {
  retry: async (read) =>
    flagsFromLine(await read('guidance for the next attempts (optional)'), (guidance) => ({ guidance })),
  skip: why,
  abort: why,
  raise: (read, gate) => raiseFor(gate, read),
  value: async (read) => flagsFromLine(await jsonFor('value, as JSON', read), (value) => ({ value })),
  version: async (read) => flagsFromLine(await jsonFor('your version, as JSON', read), (edit) => ({ edit })),
};

function flagsFromLine(line: string | null, words: (line: string) => AnswerFlags): AnswerFlags | null {
  if (line === null) return null;
  return line === '' ? {} : words(line);
}

/** Asks again for what is no JSON; `null` for nothing. */
async function jsonFor(what: string, read: Read): Promise<string | null> {
  for (;;) {
    const text = await read(what);
    if (text === null || text === '') return null;
    if (isJson(text)) return text;
  }
}

function isJson(text: string): boolean {
  try {
    parseValue(text);
    return true;
  } catch {
    return false;
  }
}

/** Asks for what was passed and nothing else. */
async function raiseFor({ artifact }: Pick<Gate, 'artifact'>, read: Read): Promise<AnswerFlags | null> {
  const raise: Record<keyof RaiseFlags, number> = {};
  for (const [measure, { unit, flag }] of Object.entries(BUDGET_MEASURES)) {
    if (isPassedBudget(artifact) && !artifact.limits.some((limit) => limit.measure === measure)) continue;
    const line = await read(`${unit} to add (empty: 0)`);
    if (line === null) return null;
    // What is no amount is refused by the engine, which names the field.
    if (line !== '') raise[optionOf('raise', flag)] = Number(line);
  }
  return raise;
}
