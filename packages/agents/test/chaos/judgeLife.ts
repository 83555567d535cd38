import { missing, repeated } from './judgeFile.ts';
import type { FileContent, Observation, ObservedEvent } from './Observation.ts';

/** What one life of a driver did, compared with what was there before it. */
export interface LifeVerdict {
  readonly violations: readonly string[];
  /** Calls in flight at the kill before that were made again. */
  readonly repeatedCalls: number;
  /** Nodes that were running at the kill before and ran again. */
  readonly redoneNodes: number;
}

/**
 * Judges what a driver left against what its predecessor left: nothing committed or acknowledged is lost, nothing
 * finished is done again, and of what was in flight at most one per branch.
 */
export function judgeLife(before: Observation, after: Observation, branches: number): LifeVerdict {
  const calls = repeatedCalls(before, after);
  const nodes = redoneNodes(before.file, after.file);
  return {
    repeatedCalls: calls.inFlight.length,
    redoneNodes: nodes.running.length,
    violations: [
      ...losses(before.file, after.file),
      ...missing(shasOf(after), shasOf(before), 'commit lost'),
      ...unkeptAcknowledgements(after),
      ...calls.recorded.map((key) => `recorded call was repeated: ${key}`),
      ...calls.twice.map((key) => `call made twice in one life: ${key}`),
      ...tooMany(calls.inFlight, branches, 'calls in flight were repeated'),
      ...unannouncedCalls(after),
      ...nodes.finished.map((visit) => `finished node ran again: ${visit}`),
      ...tooMany(nodes.running, branches, 'nodes redone'),
    ],
  };
}

const shasOf = ({ commits }: Observation): ReadonlySet<string> => new Set(commits.map(({ sha }) => sha));

function losses(before: FileContent, after: FileContent): readonly string[] {
  const doneIn = ({ steps }: FileContent): ReadonlySet<string> =>
    new Set(steps.filter(({ state }) => state === 'done').map(({ key }) => key));
  const idsIn = (rows: readonly { readonly id: string }[]): ReadonlySet<string> =>
    new Set(rows.map(({ id }) => id));
  return [
    ...missing(new Set(after.checkpoints), new Set(before.checkpoints), 'checkpoint lost'),
    ...missing(idsIn(after.turns), idsIn(before.turns), 'journal row lost'),
    ...missing(doneIn(after), doneIn(before), 'recorded step was lost'),
    ...missing(idsIn(after.sessions), idsIn(before.sessions), 'session lost'),
    ...missing(new Set(after.decisions), new Set(before.decisions), 'decision lost'),
    ...missing(after.outputs, before.outputs, 'output lost'),
  ];
}

/** An event is published after its transaction was committed: whoever was told of it must find it, and its rows. */
function unkeptAcknowledgements({ file, acknowledged }: Observation): readonly string[] {
  const told = (name: string): number => acknowledged.filter((event) => event.name === name).length;
  const turns = (type: string): number => file.turns.filter(({ turnType }) => turnType === type).length;
  const tooFew = (what: string, rows: number, name: string): readonly string[] =>
    rows < told(name) ? [`${told(name)} acknowledged ${name}, ${rows} ${what}`] : [];
  return [
    ...missingEvents(file.events, acknowledged),
    ...tooFew('Thoughts', turns('Thought'), 'NODE_STARTED'),
    ...tooFew('Actions', turns('Action'), 'NODE_FINISHED'),
    ...tooFew('recorded steps', file.steps.filter(({ state }) => state === 'done').length, 'STEP_FINISHED'),
    ...tooFew('sessions', file.sessions.length, 'HITL_SESSION_OPENED'),
    ...tooFew('decisions', file.decisions.length, 'HITL_SESSION_DECIDED'),
  ];
}

function missingEvents(
  held: readonly ObservedEvent[],
  acknowledged: readonly ObservedEvent[],
): readonly string[] {
  const count = new Map<string, number>();
  const textOf = ({ name, payload }: ObservedEvent): string => `${name} ${JSON.stringify(payload)}`;
  for (const event of held) count.set(textOf(event), (count.get(textOf(event)) ?? 0) + 1);
  return acknowledged.flatMap((event) => {
    const left = (count.get(textOf(event)) ?? 0) - 1;
    count.set(textOf(event), left);
    return left < 0 ? [`acknowledged event was lost: ${textOf(event)}`] : [];
  });
}

function repeatedCalls(before: Observation, after: Observation) {
  const stateBefore = new Map(before.file.steps.map(({ key, state }) => [key, state]));
  const calls = after.calls.slice(before.calls.length);
  const again = calls.filter((key) => before.calls.includes(key));
  return {
    recorded: calls.filter((key) => stateBefore.get(key) === 'done'),
    inFlight: again.filter((key) => stateBefore.get(key) !== 'done'),
    twice: repeated(calls),
  };
}

/** The intent is on disk before the call, and counts every attempt. */
function unannouncedCalls({ file, calls }: Observation): readonly string[] {
  const attempts = new Map(file.steps.map(({ key, attempt }) => [key, attempt]));
  const made = (key: string): number => calls.filter((call) => call === key).length;
  return [...new Set(calls)]
    .filter((key) => (attempts.get(key) ?? 0) < made(key))
    .map((key) => `${made(key)} calls, ${attempts.get(key) ?? 0} recorded attempts: ${key}`);
}

/** A visit that begins again was redone, unless it had suspended at a question: then it was resumed. */
function redoneNodes(before: FileContent, after: FileContent) {
  const known = new Set(before.turns.map(({ id }) => id));
  const begunBefore = new Set(before.turns.map(({ visit }) => visit));
  const suspended = new Set(before.interrupts.values());
  const begun = after.turns.filter(({ id, turnType }) => turnType === 'Thought' && !known.has(id));
  const again = [...new Set(begun.map(({ visit }) => visit))].filter((visit) => begunBefore.has(visit));
  return {
    finished: again.filter((visit) => before.outputs.has(visit)),
    running: again.filter((visit) => !before.outputs.has(visit) && !suspended.has(visit)),
  };
}

function tooMany(items: readonly string[], limit: number, what: string): readonly string[] {
  return items.length > limit ? [`${items.length} ${what}: ${items.join(', ')}`] : [];
}
