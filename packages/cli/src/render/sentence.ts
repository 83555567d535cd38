import type { EventName, Gate, OrchestratorEvents } from '@devs/core';
import { BUDGET_MEASURES, eachMeasure } from '@devs/core/internal';
import { GATE_LABELS } from '../gates/gateLabels.ts';
import type { Style } from '../terminal/Line.ts';
import { oneLine } from '../terminal/visible.ts';

// The tasks of one turn speak through their steps; these nodes have nothing to add.
const NODES: Readonly<Record<string, string | null>> = {
  research: 'research written',
  design: 'design written',
  approveDesign: 'design decision applied',
  distill: 'plan written',
  approveTaskDag: 'plan decision applied',
  implement: null,
  verify: null,
  error: 'error recorded',
  pivot_agent: null,
};

// A step's event does not say how its checks ended; the step after it could only follow the expected end.
const STEPS: Readonly<Record<string, string>> = {
  baseline: 'baseline checks run',
  designAgain: 'design referred to missing files; rewritten',
  test: 'test written',
  red: 'new test run before the code',
  before: 'checks run before the work',
  implement: 'code written',
  document: 'documentation written',
  green: 'tests run on the code',
  review: 'tests green; code reviewed',
  pivot: 'new strategy requested',
  pivotAgain: 'strategy was already tried; another one requested',
  verify: 'verification run',
};

// Depth has events of its own.
const MEASURES: Readonly<Record<string, string | null>> = {
  attempts: 'attempts of one node',
  equal_errors: 'identical errors in a row',
  turns: 'turns on one task',
  same_output: 'identical results',
  entropy: 'repetition',
  pivots: 'strategies tried',
  pivot_answers: 'pivot answers without a strategy',
  ...eachMeasure(({ words }) => words),
  depth: null,
};

type GuardWords = (of: string, level: number, limit: number) => string;

function guardSentence({ measure, level, limit }: OrchestratorEvents['GUARD_WARNED'], words: GuardWords) {
  const name = Object.hasOwn(MEASURES, measure) ? MEASURES[measure] : measure;
  return name == null ? null : words(name, level, limit);
}

type DecisionEvent = OrchestratorEvents['HITL_SESSION_DECIDED'];

/** `gate rejected: plan, by human:ada: too many tasks`; `budget raised by $5, by human:ada` */
const decisionSentence = (decided: DecisionEvent): string =>
  decided.said === 'raise'
    ? `${gateName(decided.kind)} raised${decidedTail(decided)}`
    : `gate ${decidedVerb(decided)}: ${gateName(decided.kind)}${decidedTail(decided)}`;

/** The same where the gate is named beside it: `rejected, by human:ada: too many tasks` */
export const formatDecision = (decided: DecisionEvent): string => decidedVerb(decided) + decidedTail(decided);

const decidedVerb = ({ said, edited }: DecisionEvent): string =>
  said === undefined ? (edited === true ? 'edited' : 'decided') : (SAID[said] ?? said);

function decidedTail({ raised, tasks, principal, via, words, comments }: DecisionEvent): string {
  const by = raised === undefined ? '' : ` by ${formatRaise(raised)}`;
  const again = tasks === undefined ? '' : `, redo ${tasks.join(', ')}`;
  const noted = comments === undefined ? '' : `, ${comments} ${comments === 1 ? 'comment' : 'comments'}`;
  return `${by}${again}${noted}, by ${principal}${formatVia(via)}${because(words)}`;
}

/** ` via page`; the command line is what this one is read on, and goes without saying. */
export const formatVia = (via: string | undefined): string =>
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

type Raised = NonNullable<DecisionEvent['raised']>;

const formatRaise = (raised: Raised): string =>
  Object.entries(raised)
    .map(([measure, amount]) => formatRaised(measure as keyof Raised, amount))
    .join(', ');

function formatRaised(measure: keyof Raised, amount: number): string {
  const { kind, unit } = BUDGET_MEASURES[measure];
  if (kind === 'money') return `$${amount}`;
  return kind === 'time' ? `${amount / 1000} s` : `${amount} ${unit}`;
}

type Sentences = {
  readonly [Name in EventName]: (payload: OrchestratorEvents[Name]) => string | null;
};

const gateName = (kind: string): string => GATE_LABELS[kind as Gate['kind']]?.name ?? kind;
const because = (reason: string | undefined): string => (reason === undefined ? '' : `: ${reason}`);
const clipId = (id: string): string => id.slice(0, 8);

const STOPS: Readonly<Record<OrchestratorEvents['STOP_REQUESTED']['stop'], string>> = {
  pause: 'pause requested',
  abort: 'pause requested, with calls in flight aborted,',
  cancel: 'cancel requested',
};

const SENTENCES: Sentences = {
  AGENTS_CHANGED: ({ started, now }) => `agents changed: now ${now}, started with ${started}`,
  AGENT_ASKED: ({ granted, title, why }) => `${granted ? 'allowed' : 'refused'} the agent: ${title} (${why})`,
  RECURSION_DEPTH_WARNING: ({ depth, limit }) => `${depth} of ${limit} steps without progress`,
  RECURSION_LIMIT_REACHED: ({ limit }) => `stopped after ${limit} steps without progress`,
  HITL_SESSION_OPENED: ({ kind, sessionId }) => `gate opened: ${gateName(kind)} (${clipId(sessionId)})`,
  HITL_SESSION_DECIDED: decisionSentence,
  GATE_VOTED: ({ kind, principal, votes, needed }) =>
    `approval ${votes} of ${needed}: ${gateName(kind)}, by ${principal}`,
  HITL_ANSWER_VOIDED: ({ kind, principal }) =>
    `answer discarded: ${gateName(kind)} changed after ${principal} answered; asking again`,
  HITL_ANSWER_REFUSED: ({ kind, principal }) =>
    `answer rejected: ${gateName(kind)} does not accept the answer of ${principal}; asking again`,
  GATE_SHOWN: ({ kind, principal }) => `gate viewed: ${gateName(kind)}, by ${principal}`,
  GATE_REVEALED: ({ kind, principal, count }) =>
    `hidden text of a gate viewed: ${gateName(kind)}, ${count === 1 ? '1 place' : `${count} places`}, by ${principal}`,
  GATE_ASKED: ({ kind, principal, question }) =>
    `question about ${gateName(kind)}, by ${principal}: ${question}`,
  FAILURE_GATE_OPENED: () => 'stuck: waiting for a person to decide',
  CHECKPOINT_SAVE_FAILED: ({ nodeName, message }) => `journal entry of ${nodeName} lost: ${message}`,
  RUN_DEGRADED: () => 'run continues with an incomplete journal',
  NODE_STARTED: () => null,
  NODE_FINISHED: ({ node }) => (Object.hasOwn(NODES, node) ? (NODES[node] ?? null) : `${node} done`),
  STEP_FINISHED: ({ step }) => STEPS[step] ?? null,
  TRANSCRIPT_LOST: ({ step, message }) => `transcript of ${step} is incomplete: ${message}`,
  NODE_FAILED: ({ node, message }) => `${node} failed: ${message}`,
  TASK_COMPLETED: ({ name, gitHash }) =>
    gitHash === '' ? `done: ${name}` : `committed ${gitHash.slice(0, 7)}: ${name}`,
  TASK_FAILED: ({ final }) => (final ? 'task abandoned' : 'attempt failed'),
  TASK_SKIPPED: ({ name }) => `skipped: ${name}`,
  TASK_REOPENED: ({ name }) => `reopened: ${name}`,
  TASK_BLOCKED: () => 'blocked: a task it depends on was abandoned or skipped',
  PIVOTED: ({ strategy }) => `new strategy: ${strategy}`,
  REWOUND: ({ targetTaskId, tasks, principal, reason }) =>
    `rewound to ${taskLabelOrEmpty(targetTaskId)} by ${principal}, undone: ${tasks.map(taskLabelOrEmpty).join(', ')}${because(reason)}`,
  REWIND_UNDONE: ({ targetTaskId, principal, reason }) =>
    `rewind to ${taskLabelOrEmpty(targetTaskId)} undone by ${principal}${because(reason)}`,
  SANDBOX_WAIVED: ({ principal }) => `sandbox skipped this time, by ${principal}`,
  WORKSPACE_RESCUED: ({ ref, files }) =>
    `saved ${files === 1 ? '1 changed file' : `${files} changed files`} from the run's folder; to see them: git show ${ref}`,
  CHANGES_ADOPTED: ({ principal, commit, files }) =>
    `committed ${commit.slice(0, 7)}: ${files === 1 ? '1 file' : `${files} files`} changed by ${principal}`,
  RUN_SYNCED: ({ principal, base }) => `moved onto your commit ${base.slice(0, 7)}, by ${principal}`,
  RUN_RECOVERED: () => 'recovered after its process died',
  STOP_REQUESTED: ({ stop, principal }) => `${STOPS[stop]} by ${principal}`,
  RUN_REVIVED: ({ principal }) => `revived by ${principal}`,
  RUN_FORKED: ({ from, principal }) => `forked from ${from} by ${principal}`,
  RUN_IMPORTED: ({ principal, checkpoints }) =>
    `imported from another checkpointer by ${principal}: ${checkpoints} checkpoint(s)`,
  STATE_UPDATED: ({ principal, channels }) => `state updated by ${principal}: ${channels.join(', ')}`,
  RETRIED: ({ node, attempt, message }) => `${node} retried (attempt ${attempt}): ${message}`,
  GUARD_WARNED: (found) => guardSentence(found, (name, level, limit) => `${name}: ${level} of ${limit}`),
  GUARD_TRIPPED: (found) =>
    guardSentence(found, (name, level, limit) => `limit reached: ${name}, ${level} of ${limit}`),
  GUARD_SUPPRESSED: () => null,
  GOAL_SET: ({ goal }) => `goal set: ${goal}`,
  GOAL_REACHED: ({ reason }) => `stopped at the goal: ${reason}`,
  RUN_SUSPENDED: ({ gates, until, waitsFor = [], children = [] }) =>
    [
      ...(gates > 0 ? [`waiting at ${gates === 1 ? 'a gate' : `${gates} gates`}`] : []),
      ...(waitsFor.length > 0
        ? [`waiting for ${waitsFor.length === 1 ? 'signal' : 'signals'} ${waitsFor.join(', ')}`]
        : []),
      ...(children.length > 0
        ? [`waiting for ${children.length === 1 ? 'run' : 'runs'} ${children.join(', ')}`]
        : []),
      ...(until === undefined ? [] : [`waiting until ${until}`]),
    ].join('; '),
  GATE_REMINDED: ({ sessionId }) => `reminder: gate ${sessionId.slice(0, 8)} is still open`,
  GATE_REASSIGNED: ({ sessionId, to }) => `gate ${sessionId.slice(0, 8)} reassigned to ${to.join(', ')}`,
  TIMER_FIRED: ({ dueAt }) => `timer fired, due ${dueAt}`,
  SIGNAL_PASSED_OVER: ({ kind, why }) => `ignored a ${kind}: ${why}`,
  SIGNAL_RECEIVED: ({ name, principal }) => `signal ${name} received from ${principal}`,
  SIGNAL_TAKEN: ({ name }) => `signal ${name} delivered`,
  RUN_REMOVED: ({ id, principal }) => `run ${id} removed by ${principal}`,
  RUN_FINISHED: ({ outcome }) => `ended: ${outcome}`,
  GRAPH_ACCEPTED: ({ principal, changes }) => `changed graph accepted by ${principal}: ${changes}`,
  GRAPH_TAKEN: ({ changes }) => `continued on a changed graph: ${changes}`,
  LEASE_LOST: () => 'lease lost: another process took over the run',
  USAGE_REFUSED: ({ step, reason }) => `usage reported by ${step} ignored: ${reason}`,
  CALL_NOT_RECORDED: ({ node, what, name }) => `${node} called ${what} ${name} outside of a step`,
  SECRET_REDACTED: ({ place, count }) =>
    `${count === 1 ? '1 secret' : `${count} secrets`} masked in ${place}`,
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
export function taskLabelOrEmpty(taskId: string | null | undefined): string {
  const number = /:(\d+)$/.exec(taskId ?? '')?.[1];
  return number === undefined ? '' : `T${number}`;
}

/** What somebody who reads a story looks for: work that is done, what went wrong, and what may need them. */
const STYLES: Readonly<Partial<Record<EventName, Style>>> = {
  TASK_COMPLETED: 'good',
  TASK_FAILED: 'bad',
  NODE_FAILED: 'bad',
  TASK_BLOCKED: 'due',
  TASK_SKIPPED: 'due',
  FAILURE_GATE_OPENED: 'due',
  HITL_ANSWER_VOIDED: 'due',
  HITL_ANSWER_REFUSED: 'due',
  GUARD_WARNED: 'due',
  GUARD_TRIPPED: 'due',
  RECURSION_DEPTH_WARNING: 'due',
  RECURSION_LIMIT_REACHED: 'due',
  RUN_DEGRADED: 'due',
  RETRIED: 'due',
};

/** How the line of an event looks; a name that is no event's has no style. */
export const eventStyle = (name: string): Style | undefined =>
  Object.hasOwn(STYLES, name) ? STYLES[name as EventName] : undefined;
