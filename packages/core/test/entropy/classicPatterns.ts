import { type AgentAction, readTurn } from '../../src/engine/entropy/EntropyPart.ts';

// The five patterns by which agent frameworks usually tell that an agent is stuck, with their usual counts. Kept as
// the baseline of the entropy score; nothing in the engine uses them.

const EQUAL_TURNS = 4;
const EQUAL_ERRORS = 3;
const MESSAGES = 3;
const ALTERNATING = 6;
const CONTEXT_ERRORS = 2;

type Pattern = (turns: readonly AgentAction[]) => boolean;

const exchange = (turn: AgentAction): string => readTurn(turn, 1).exchange;
const allEqual = (values: readonly unknown[]): boolean => values.every((value) => value === values[0]);

/** The same action with the same answer, four times in a row. */
const sameAction: Pattern = (turns) => {
  const last = turns.slice(-EQUAL_TURNS);
  return last.length === EQUAL_TURNS && allEqual(last.map(exchange));
};

/** The same action with an error, three times in a row. */
const sameErrorAgain: Pattern = (turns) => {
  const last = turns.slice(-EQUAL_ERRORS);
  if (last.length < EQUAL_ERRORS || last.some(({ error }) => error === undefined)) return false;
  return allEqual(last.map(({ action }) => action));
};

/** Three equal messages without a tool between them. */
const monologue: Pattern = (turns) => {
  const last = turns.slice(-MESSAGES);
  if (last.length < MESSAGES || last.some(({ tool }) => tool !== undefined)) return false;
  return allEqual(last.map(({ output }) => output));
};

/** A-B-A-B-A-B. */
const alternating: Pattern = (turns) => {
  const last = turns.slice(-ALTERNATING).map(exchange);
  if (last.length < ALTERNATING || last[0] === last[1]) return false;
  return last.every((value, index) => value === last[index % 2]);
};

/** The model's context is exceeded again. */
const contextError: Pattern = (turns) => {
  const last = turns.slice(-CONTEXT_ERRORS);
  return (
    last.length === CONTEXT_ERRORS &&
    last.every(({ error = '' }) => /context (length|window)|maximum context|too many tokens/i.test(error))
  );
};

export const CLASSIC_PATTERNS: Readonly<Record<string, Pattern>> = {
  'same action': sameAction,
  'same error': sameErrorAgain,
  monologue,
  'A-B-A-B': alternating,
  'context error': contextError,
};

/** The number of turns after which one of `patterns` applies; `null` for never. Polling is left out, as for the score. */
export function firstMatch(
  patterns: readonly Pattern[],
  turns: readonly AgentAction[],
  polling: readonly string[],
): number | null {
  const isWork = ({ tool }: AgentAction): boolean => tool === undefined || !polling.includes(tool);
  for (let count = 1; count <= turns.length; count += 1) {
    const work = turns.slice(0, count).filter(isWork);
    if (patterns.some((applies) => applies(work))) return count;
  }
  return null;
}
