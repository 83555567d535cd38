import type { AgentAction, TestCounts } from '../../../src/engine/entropy/EntropyPart.ts';

/**
 * - `looping`: the same few turns again and again.
 * - `stuck`: the turns differ, the situation does not.
 * - `progressing`: slow, repetitive or with detours, but it gets there.
 * - `polling`: waits for something outside by asking again; its tool is declared as polling.
 */
export type TraceKind = 'looping' | 'stuck' | 'progressing' | 'polling';

export interface Trace {
  readonly kind: TraceKind;
  /** In one line, what happens. Unique. */
  readonly about: string;
  readonly turns: readonly AgentAction[];
  /** Tools whose turns are waiting, not work. */
  readonly polling?: readonly string[];
}

/** A human is wanted in these, and in these only. */
export const isStuck = ({ kind }: Trace): boolean => kind === 'looping' || kind === 'stuck';

type More = Omit<AgentAction, 'action' | 'tool' | 'output'>;

/** A tool call and what it gave. The tool is the first word. */
export function did(action: string, output?: string, more: More = {}): AgentAction {
  const [tool = action] = action.split(' ');
  return { action, tool, ...(output !== undefined && { output }), ...more };
}

/** A tool call that failed. */
export const failed = (action: string, error: string, more: More = {}): AgentAction =>
  did(action, undefined, { error, ...more });

/** The agent only spoke. */
export const said = (output: string): AgentAction => ({ action: 'message', output });

/** A test run with these failing tests; the output is a runner's summary. */
export function tested(
  action: string,
  passed: number,
  failing: readonly string[],
  more: More = {},
): AgentAction {
  const lines = failing.map((name) => `  FAIL ${name}`);
  const tests: TestCounts = { passed, failed: failing.length, failing };
  return did(action, [...lines, `${passed} passed, ${failing.length} failed`].join('\n'), { tests, ...more });
}

/** `n` rounds of one or several turns, numbered from 1. */
export const rounds = (
  n: number,
  round: (i: number) => AgentAction | readonly AgentAction[],
): readonly AgentAction[] => Array.from({ length: n }, (_, index) => round(index + 1)).flat();

/** The `i`-th of a list, from 1, round and round. */
export const nth = <T>(list: readonly T[], i: number): T => list[(i - 1) % list.length] as T;
