import type { EventName, Gate, OrchestratorEvents } from '@devs/core';
import { GATE_WORDS } from '../gates/gateWords.ts';
import { oneLine } from '../terminal/visible.ts';

// The tasks of one turn speak through their steps; these nodes have nothing to add.
const NODES: Readonly<Record<string, string | null>> = {
  research: 'research written',
  design: 'design written',
  approveDesign: 'decision on the design taken up',
  distill: 'plan made',
  approveTaskDag: 'decision on the plan taken up',
  implement: null,
  verify: null,
  error: 'error recorded',
  pivot_agent: null,
};

// A step's event does not say how its checks ended; the step after it could only follow the expected end.
const STEPS: Readonly<Record<string, string>> = {
  baseline: 'checks run before any work',
  designAgain: 'design named files that are not there; written again',
  test: 'test written',
  red: 'test run before the code',
  before: 'checks run before the work',
  implement: 'code written',
  document: 'documentation written',
  green: 'tests run on the code',
  review: 'tests green; code reviewed',
  pivot: 'another strategy asked for',
  pivotAgain: 'that one was tried; another one asked for',
  verify: 'verification run',
};

// Depth has events of its own.
const MEASURES: Readonly<Record<string, string | null>> = {
  attempts: 'attempts at one node',
  equal_errors: 'equal errors in a row',
  turns: 'turns on one task',
  same_output: 'equal results',
  entropy: 'repetition',
  pivots: 'strategies tried',
  pivot_answers: 'answers of the pivot agent without a strategy',
  usd: 'cost in US dollars',
  tokens: 'tokens',
  calls: 'calls',
  ms: 'milliseconds driven',
  depth: null,
};

type GuardWords = (of: string, level: number, limit: number) => string;

function guardSentence({ measure, level, limit }: OrchestratorEvents['GUARD_WARNED'], words: GuardWords) {
  const name = Object.hasOwn(MEASURES, measure) ? MEASURES[measure] : measure;
  return name == null ? null : words(name, level, limit);
}

type Decided = OrchestratorEvents['HITL_SESSION_DECIDED'];

/** `gate rejected: plan, by human:ada: too many tasks` */
const decisionSentence = (decided: Decided): string =>
  `gate ${decidedVerb(decided)}: ${gateName(decided.kind)}${decidedTail(decided)}`;

/** The same where the gate is named beside it: `rejected, by human:ada: too many tasks` */
export const decidedWords = (decided: Decided): string => decidedVerb(decided) + decidedTail(decided);

const decidedVerb = ({ said, edited }: Decided): string =>
  said === undefined ? (edited === true ? 'edited' : 'decided') : (SAID[said] ?? said);

function decidedTail({ raised, tasks, principal, via, words, comments }: Decided): string {
  const by = raised === undefined ? '' : ` by ${amountWords(raised)}`;
  const again = tasks === undefined ? '' : `, ${tasks.join(', ')} again`;
  const noted = comments === undefined ? '' : `, ${comments} ${comments === 1 ? 'comment' : 'comments'}`;
  return `${by}${again}${noted}, by ${principal}${viaWords(via)}${because(words)}`;
}

/** ` via page`; the command line is what this one is read on, and goes without saying. */
export const viaWords = (via: string | undefined): string =>
  via === undefined || via === 'command' ? '' : ` via ${via}`;

/** An answer as a participle; `approved` and `rejected` are. */
const SAID: Readonly<Record<string, string>> = {
  retry: 'answered (retry)',
  skip: 'answered (skip)',
  continue: 'answered (continue)',
  use: 'answered (use)',
  repeat: 'answered (repeat)',
  again: 'answered (again)',
  'first-task': 'answered (first-task)',
  accept: 'answered (accept)',
  abort: 'answered (abort)',
  raise: 'raised',
};

function amountWords(raised: NonNullable<OrchestratorEvents['HITL_SESSION_DECIDED']['raised']>): string {
  const { usd, tokens, calls, ms } = raised;
  const parts = [
    usd === undefined ? '' : `$${usd}`,
    tokens === undefined ? '' : `${tokens} tokens`,
    calls === undefined ? '' : `${calls} calls`,
    ms === undefined ? '' : `${ms / 1000} s`,
  ];
  return parts.filter((part) => part !== '').join(', ');
}

type Sentences = {
  readonly [Name in EventName]: (payload: OrchestratorEvents[Name]) => string | null;
};

const gateName = (kind: string): string => GATE_WORDS[kind as Gate['kind']]?.name ?? kind;
const because = (reason: string | undefined): string => (reason === undefined ? '' : `: ${reason}`);
const shortId = (id: string): string => id.slice(0, 8);

const SENTENCES: Sentences = {
  AGENTS_CHANGED: ({ started, now }) => `goes on with ${now}, was started with ${started}`,
  AGENT_ASKED: ({ granted, title, why }) => `${granted ? 'allowed' : 'refused'} the agent: ${title} (${why})`,
  RECURSION_DEPTH_WARNING: ({ depth, limit }) => `${depth} of ${limit} steps without progress`,
  RECURSION_LIMIT_REACHED: ({ limit }) => `stopped after ${limit} steps without progress`,
  HITL_SESSION_OPENED: ({ kind, sessionId }) => `gate opened: ${gateName(kind)} (${shortId(sessionId)})`,
  HITL_SESSION_DECIDED: decisionSentence,
  GATE_VOTED: ({ kind, principal, votes, needed }) =>
    `approval ${votes} of ${needed}: ${gateName(kind)}, by ${principal}`,
  HITL_ANSWER_VOIDED: ({ kind, principal }) =>
    `answer void: ${gateName(kind)} shows something else than ${principal} answered; it is asked again`,
  HITL_ANSWER_REFUSED: ({ kind, principal }) =>
    `answer refused: ${gateName(kind)} does not take what ${principal} answered; it is asked again`,
  GATE_SHOWN: ({ kind, principal }) => `gate read: ${gateName(kind)}, by ${principal}`,
  GATE_REVEALED: ({ kind, principal, count }) =>
    `what a gate hides was read: ${gateName(kind)}, ${count === 1 ? '1 place' : `${count} places`}, by ${principal}`,
  GATE_ASKED: ({ kind, principal, question }) =>
    `asked about ${gateName(kind)}, by ${principal}: ${question}`,
  FAILURE_GATE_OPENED: () => 'stuck: a human is asked',
  CHECKPOINT_SAVE_FAILED: ({ nodeName, message }) => `a journal line of ${nodeName} was lost: ${message}`,
  RUN_DEGRADED: () => 'the run goes on without parts of its journal',
  NODE_STARTED: () => null,
  NODE_FINISHED: ({ node }) => (Object.hasOwn(NODES, node) ? (NODES[node] ?? null) : `${node} done`),
  STEP_FINISHED: ({ step }) => STEPS[step] ?? null,
  TRANSCRIPT_LOST: ({ step, message }) => `the rest of the transcript of ${step} was lost: ${message}`,
  NODE_FAILED: ({ node, message }) => `${node} failed: ${message}`,
  TASK_COMPLETED: ({ name, gitHash }) =>
    gitHash === '' ? `done: ${name}` : `committed ${gitHash.slice(0, 7)}: ${name}`,
  TASK_FAILED: ({ final }) => (final ? 'given up' : 'attempt failed'),
  TASK_SKIPPED: ({ name }) => `skipped: ${name}`,
  TASK_REOPENED: ({ name }) => `sent back: ${name}`,
  TASK_BLOCKED: () => 'blocked by a task that was given up or skipped',
  PIVOTED: ({ strategy }) => `new strategy: ${strategy}`,
  REWOUND: ({ targetTaskId, tasks, principal, reason }) =>
    `set back to ${taskLabel(targetTaskId)} by ${principal}, undone: ${tasks.map(taskLabel).join(', ')}${because(reason)}`,
  REWIND_UNDONE: ({ targetTaskId, principal, reason }) =>
    `going back to ${taskLabel(targetTaskId)} was undone by ${principal}${because(reason)}`,
  SANDBOX_WAIVED: ({ principal }) => `commands go on without the sandbox this time, by ${principal}`,
  WORKSPACE_RESCUED: ({ ref, files }) =>
    `kept ${files === 1 ? 'a changed file' : `${files} changed files`} of the run's folder; there: git show ${ref}`,
  CHANGES_ADOPTED: ({ principal, commit, files }) =>
    `committed ${commit.slice(0, 7)}: ${files === 1 ? 'a file' : `${files} files`} changed by ${principal}`,
  RUN_SYNCED: ({ principal, base }) => `carried over to your commit ${base.slice(0, 7)}, by ${principal}`,
  RUN_RECOVERED: () => 'taken over from a process that had gone',
  RUN_REVIVED: ({ principal }) => `brought back by ${principal}`,
  RUN_FORKED: ({ from, principal }) => `begun where ${from} stood, by ${principal}`,
  STATE_UPDATED: ({ principal, channels }) => `${principal} changed its state: ${channels.join(', ')}`,
  RETRIED: ({ node, attempt, message }) => `${node} tried again (${attempt}): ${message}`,
  GUARD_WARNED: (found) => guardSentence(found, (name, level, limit) => `${name}: ${level} of ${limit}`),
  GUARD_TRIPPED: (found) =>
    guardSentence(found, (name, level, limit) => `limit reached: ${name}, ${level} of ${limit}`),
  GUARD_SUPPRESSED: () => null,
  GOAL_SET: ({ goal }) => `to be driven: ${goal}`,
  GOAL_REACHED: ({ reason }) => `stopped as asked: ${reason}`,
  RUN_SUSPENDED: ({ gates, until, waitsFor = [], children = [] }) =>
    [
      ...(gates > 0 ? [`waiting at ${gates === 1 ? 'a gate' : `${gates} gates`}`] : []),
      ...(waitsFor.length > 0 ? [`waiting for ${waitsFor.join(', ')}`] : []),
      ...(children.length > 0
        ? [`waiting for ${children.length === 1 ? 'run' : 'runs'} ${children.join(', ')}`]
        : []),
      ...(until === undefined ? [] : [`waiting until ${until}`]),
    ].join('; '),
  GATE_REMINDED: ({ sessionId }) => `still undecided: gate ${sessionId.slice(0, 8)}`,
  GATE_REASSIGNED: ({ sessionId, to }) => `gate ${sessionId.slice(0, 8)} is for ${to.join(', ')} now`,
  TIMER_FIRED: ({ dueAt }) => `woken at its hour, ${dueAt}`,
  SIGNAL_PASSED_OVER: ({ kind, why }) => `passed over a ${kind}: ${why}`,
  SIGNAL_RECEIVED: ({ name, principal }) => `told ${name}, by ${principal}`,
  SIGNAL_TAKEN: ({ name }) => `took ${name}`,
  RUN_REMOVED: ({ id, principal }) => `${id} was removed by ${principal}`,
  RUN_FINISHED: ({ outcome }) => `ended: ${outcome}`,
  GRAPH_ACCEPTED: ({ principal, changes }) => `goes on with a changed graph, by ${principal}: ${changes}`,
  LEASE_LOST: () => 'another process took over',
  USAGE_REFUSED: ({ step, reason }) => `what ${step} says it used is not counted: ${reason}`,
  SECRET_REDACTED: ({ place, count }) =>
    `${count === 1 ? 'a secret' : `${count} secrets`} masked in ${place}`,
};

/** An event in human words; `null` when it has nothing to tell people. */
export function sentence<Name extends EventName>(
  name: Name,
  payload: OrchestratorEvents[Name],
): string | null {
  const text = SENTENCES[name](payload);
  return text === null ? null : oneLine(text);
}

/** `T3` for the third task of a run; empty where an event is about no task. */
export function taskLabel(taskId: string | null | undefined): string {
  const number = /:(\d+)$/.exec(taskId ?? '')?.[1];
  return number === undefined ? '' : `T${number}`;
}
