import { stripVTControlCharacters } from 'node:util';
import type { AgentAction, TestCounts } from '../engine/entropy/EntropyPart.ts';
import { activeTask, isTaskTerminal } from './taskStates.ts';
import type { AgentLogRecord, EntropyRecord, ErrorRecord, GraphState } from './types.ts';

interface TimedTurn {
  /** ISO 8601, UTC. */
  readonly at: string;
  readonly turn: AgentAction;
}

/**
 * The turns of the active task since its episode began: its logs, each with the tree it left, and its errors, oldest
 * first. From the state alone. A new task, a pivot and a human's answer begin an episode by clearing its records.
 */
export function pipelineTurns(state: GraphState): readonly AgentAction[] {
  const task = activeTask(state);
  if (task === null || isTaskTerminal(task, state.activeTaskId)) return [];
  const isOwn = ({ taskId }: { readonly taskId: string | null }): boolean => taskId === task.taskId;
  const logged = loggedTurns(state.agentLogs.filter(isOwn), state.entropy.filter(isOwn));
  const failed = state.errorHistory.filter(isOwn).map(erroneousTurn);
  return [...logged, ...failed]
    .toSorted((a, b) => (a.at < b.at ? -1 : Number(a.at > b.at)))
    .map(({ turn }) => turn);
}

/** Every turn of `implement` leaves a log and a tree; `verify` only a log. Logs from before the first tree are of no concern. */
function loggedTurns(logs: readonly AgentLogRecord[], trees: readonly EntropyRecord[]): readonly TimedTurn[] {
  const turns: TimedTurn[] = [];
  let left = trees.length;
  for (const log of logs.toReversed()) {
    if (left === 0) break;
    const tree = trees[left - 1] as EntropyRecord;
    turns.unshift({ at: log.metadata.timestamp, turn: loggedTurn(log, tree.outputHash) });
    if (log.content.action !== 'verify') left -= 1;
  }
  return turns;
}

/** Turns whose observation is the output of the project's checks on the implementation. */
const CHECKED: ReadonlySet<string> = new Set(['implement', 'verify']);

function loggedTurn({ content, metadata }: AgentLogRecord, tree: string): AgentAction {
  const { action, observation } = content;
  const tests = CHECKED.has(action) ? readTestCounts(observation) : null;
  return {
    action,
    tool: action,
    ...(metadata.confidence === 1 ? { output: observation } : { error: observation }),
    ...(tests !== null && { tests }),
    tree,
  };
}

function erroneousTurn({ capturedAt, sourceNode, message }: ErrorRecord): TimedTurn {
  return { at: capturedAt, turn: { action: sourceNode, tool: sourceNode, error: message } };
}

/** Characters read, from the end: a runner sums up last. */
const READ = 4_000;

/** Vitest, Jest, Mocha, pytest, cargo: `3 failed | 11 passed`, `11 passing`; node:test and TAP: `# pass 11`. */
const PASSED = /\b(\d{1,6}) (?:passed|passing)\b|# pass (\d{1,6})\b/g;
const FAILED = /\b(\d{1,6}) (?:failed|failing)\b|# fail (\d{1,6})\b/g;

/** The numbers of tests in a runner's output; `null` if it does not print them in a known way. */
export function readTestCounts(output: string): TestCounts | null {
  const text = stripVTControlCharacters(output.slice(-READ));
  const passed = lastCount(text, PASSED);
  const failed = lastCount(text, FAILED);
  return passed === null && failed === null ? null : { passed: passed ?? 0, failed: failed ?? 0 };
}

function lastCount(text: string, pattern: RegExp): number | null {
  const match = [...text.matchAll(pattern)].at(-1);
  return match === undefined ? null : Number(match[1] ?? match[2]);
}
