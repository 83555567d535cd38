import type { FileContent, Observation } from './Observation.ts';

/**
 * What is wrong with a run at one moment, without knowing what it was before: damage, and tables that contradict each
 * other.
 *
 * @param branches - Nodes that may run at the same time: each may have been killed between two transactions.
 */
export function judgeFile({ file, commits, killed }: Observation, branches: number): readonly string[] {
  return [
    ...(file.integrity === 'ok' ? [] : [`integrity_check: ${file.integrity}`]),
    ...(file.decisionLog === 'ok' ? [] : [`decision log: ${file.decisionLog}`]),
    ...journalGaps(file),
    ...gateContradictions(file, killed ? branches : 0),
    ...duplicateGates(file),
    ...commitContradictions(file, commits),
  ];
}

/** Thought before step, Action before output: nothing that comes later exists without what comes first. */
function journalGaps({ turns, steps, outputs }: FileContent): readonly string[] {
  const visitsOf = (type: string): ReadonlySet<string> =>
    new Set(turns.filter(({ turnType }) => turnType === type).map(({ visit }) => visit));
  const thoughts = visitsOf('Thought');
  const actions = visitsOf('Action');
  return [
    ...missing(thoughts, actions, 'Action without Thought'),
    ...missing(thoughts, new Set(steps.map(({ visit }) => visit)), 'step without Thought'),
    ...missing(actions, outputs, 'output without Action'),
  ];
}

/** @param allowed - Sessions that may wait for their interrupt: the process died between the two. */
function gateContradictions({ sessions, interrupts }: FileContent, allowed: number): readonly string[] {
  const asked = new Set(sessions.map(({ interruptId }) => interruptId));
  const unasked = sessions.filter(({ interruptId }) => !interrupts.has(interruptId));
  return [
    ...missing(asked, new Set(interrupts.keys()), 'interrupt without session'),
    ...(unasked.length > allowed ? unasked.map(({ id }) => `session without interrupt: ${id}`) : []),
  ];
}

function duplicateGates({ sessions, decisions }: FileContent): readonly string[] {
  const decided = sessions.filter(({ status }) => status === 'decided' || status === 'resumed');
  return [
    ...repeated(sessions.map(({ questionKey }) => questionKey)).map((key) => `two sessions ask ${key}`),
    ...repeated(decisions).map((id) => `session ${id} is decided twice`),
    ...missing(new Set(decisions), new Set(decided.map(({ id }) => id)), 'session decided by nobody'),
    ...missing(new Set(decided.map(({ id }) => id)), new Set(decisions), 'decision of an open session'),
  ];
}

function commitContradictions({ events }: FileContent, commits: Observation['commits']): readonly string[] {
  const completed = events
    .filter(({ name }) => name === 'TASK_COMPLETED')
    .map(({ payload }) => (payload as { readonly gitHash: string }).gitHash);
  return [
    ...missing(
      new Set(commits.map(({ sha }) => sha)),
      new Set(completed),
      'TASK_COMPLETED without its commit',
    ),
    ...repeated(commits.map(({ subject }) => subject)).map((subject) => `two commits of "${subject}"`),
  ];
}

/** The items of `wanted` that are not in `held`, in words. */
export function missing(
  held: ReadonlySet<string>,
  wanted: ReadonlySet<string>,
  what: string,
): readonly string[] {
  return [...wanted].filter((item) => !held.has(item)).map((item) => `${what}: ${item}`);
}

/** Each item that is there more than once, once. */
export function repeated(items: readonly string[]): readonly string[] {
  return [...new Set(items.filter((item, index) => items.indexOf(item) !== index))];
}
