import type { Gate } from '@devs/core';
import { type AnswerFlags, parseValue } from './answerFlags.ts';
import type { ChoiceName } from './gateLabels.ts';
import { isPassedBudget } from './passedBudget.ts';

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

const RAISES = [
  ['usd', 'US dollars', 'raiseUsd'],
  ['tokens', 'tokens', 'raiseTokens'],
  ['calls', 'calls', 'raiseCalls'],
  ['ms', 'milliseconds', 'raiseTime'],
] as const;

/** Asks for what was passed and nothing else. */
async function raiseFor({ artifact }: Pick<Gate, 'artifact'>, read: Read): Promise<AnswerFlags | null> {
  const raise: Partial<Record<(typeof RAISES)[number][2], number>> = {};
  for (const [measure, unit, flag] of RAISES) {
    if (isPassedBudget(artifact) && !artifact.limits.some((limit) => limit.measure === measure)) continue;
    const line = await read(`${unit} to add (empty: 0)`);
    if (line === null) return null;
    // What is no amount is refused by the engine, which names the field.
    if (line !== '') raise[flag] = Number(line);
  }
  return raise;
}
