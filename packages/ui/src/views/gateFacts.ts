import type { Gate, PipelineRunInfo } from '@devs/core';

/** A fact of a gate, with how good it is. */
export interface Fact {
  readonly text: string;
  readonly tone: 'plain' | 'ok' | 'warning' | 'bad';
}

/** The row of a gate in the inbox, from its recorded artifact. */
export interface GateFacts {
  /** The question in a few words. */
  readonly asks: string;
  /** At most four, a warning last. */
  readonly facts: readonly Fact[];
  /** Lines of code, or an amount in words; `null` without one. */
  readonly size: { readonly added: number; readonly removed: number } | string | null;
}

type Tasks = readonly Pick<PipelineRunInfo['tasks'][number], 'taskId' | 'label' | 'name' | 'status'>[];

/** Pure. @param tasks - Of the run: names of those that a gate is about. */
export function gateFacts(
  gate: Pick<Gate, 'kind' | 'artifact' | 'message' | 'taskId' | 'comments'>,
  tasks: Tasks,
): GateFacts {
  const shown = (gate.artifact ?? {}) as Shown;
  const { asks, facts, size = null } = factsOf(gate, shown, tasks);
  return { asks, facts: mostTelling([...commentsFact(gate.comments), ...facts]), size };
}

/** Facts of a row. */
const MOST = 4;

/** Of too many, the first plain ones are left out. */
function mostTelling(facts: readonly Fact[]): readonly Fact[] {
  if (facts.length <= MOST) return facts;
  const least = Math.max(
    0,
    facts.findIndex(({ tone }) => tone === 'plain'),
  );
  return mostTelling(facts.toSpliced(least, 1));
}

function commentsFact(comments: Gate['comments']): readonly Fact[] {
  if (comments === undefined) return [];
  const { answered, total } = comments;
  const words = `${answered} of ${numbered(total, 'comment')} answered`;
  return [answered === total ? ok(words) : warning(words)];
}

/** The members of artifacts that are counted. */
interface Shown {
  readonly documents?: readonly { readonly title?: string }[];
  readonly unknownFiles?: readonly string[];
  readonly requirements?: readonly unknown[];
  readonly tasks?: readonly {
    readonly taskId?: string;
    readonly name?: string;
    readonly acceptanceCriteria?: readonly unknown[];
    readonly criteria?: readonly { readonly shownBy: string | null }[];
    readonly losses?: readonly unknown[];
  }[];
  readonly range?: {
    readonly total?: { readonly files: number; readonly added: number; readonly removed: number };
  };
  readonly check?: {
    readonly passed: boolean;
    readonly parts?: readonly { readonly passed: boolean }[];
    readonly cases?: { readonly passed: number; readonly failed: number; readonly skipped: number };
  } | null;
  readonly step?: unknown;
  readonly reason?: unknown;
  readonly attempts?: unknown;
  readonly failing?: readonly string[];
}

type Facts = Pick<GateFacts, 'asks' | 'facts'> & Partial<Pick<GateFacts, 'size'>>;

function factsOf(
  { kind, message, taskId }: Pick<Gate, 'kind' | 'message' | 'taskId'>,
  shown: Shown,
  tasks: Tasks,
): Facts {
  const named = nameTask(tasks, taskId);
  switch (kind) {
    case 'review':
      return reviewFacts(shown, tasks);
    case 'dag_approval':
      return planFacts(shown);
    case 'design_approval':
      return documentFacts(shown);
    case 'task_failure':
      return failureFacts(shown, named, behind(tasks, taskId));
    case 'baseline':
      return baselineFacts(shown);
    case 'budget':
      return budgetFacts(shown, named, behind(tasks, taskId));
    case 'interrupt':
    case 'node_gate':
    case 'recursion_limit':
    case 'step':
      break;
  }
  // Also kinds of a newer version: a kind is read from a row.
  return questionFacts(message, named);
}

function nameTask(tasks: Tasks, asked: string): string | null {
  const task = tasks.find(({ taskId }) => taskId === asked);
  return task === undefined ? null : `${task.label} ${task.name}`;
}

const questionFacts = (message: string, named: string | null): Facts => ({
  asks: firstLine(message) || 'Go on?',
  facts: namedFact(named),
});

const namedFact = (named: string | null): readonly Fact[] => (named === null ? [] : [plain(named)]);

const failureFacts = ({ attempts }: Shown, named: string | null, waiting: readonly Fact[]): Facts => ({
  asks: named ?? 'A task is stuck',
  facts: [plain(`tried ${numbered(Number(attempts ?? 0), 'time')}`), ...waiting],
});

const baselineFacts = ({ failing }: Shown): Facts => ({
  asks: 'Checks fail before the work begins',
  facts: [bad(numbered((failing ?? []).length, 'failure'))],
});

const budgetFacts = ({ step }: Shown, named: string | null, waiting: readonly Fact[]): Facts => ({
  asks: 'The next call may pass the limit',
  facts: [...namedFact(named), plain(`call: ${String(step)}`), ...waiting],
});

type ShownTasks = NonNullable<Shown['tasks']>;

function reviewFacts({ tasks = [], range, check }: Shown, known: Tasks): Facts {
  const { files = 0, added = 0, removed = 0 } = range?.total ?? {};
  return {
    asks: reviewedWords(tasks, known),
    facts: [
      plain(numbered(files, 'file')),
      checkFact(check ?? null),
      criteriaFact(tasks),
      ...lossesFact(tasks),
    ],
    size: { added, removed },
  };
}

/** The task by its name, or how many. */
function reviewedWords(tasks: ShownTasks, known: Tasks): string {
  const [only] = tasks;
  if (only === undefined || tasks.length > 1) return numbered(tasks.length, 'task');
  const label = known.find(({ taskId }) => taskId === only.taskId)?.label ?? '';
  return `${label} ${only.name ?? ''}`.trim();
}

function criteriaFact(tasks: ShownTasks): Fact {
  const criteria = tasks.flatMap((task) => task.criteria ?? []);
  const shown = criteria.filter(({ shownBy }) => shownBy !== null).length;
  return shown === criteria.length
    ? plain(`${shown} of ${criteria.length} criteria`)
    : warning(`${criteria.length - shown} of ${criteria.length} criteria without evidence`);
}

function lossesFact(tasks: ShownTasks): readonly Fact[] {
  const losses = tasks.flatMap((task) => task.losses ?? []).length;
  return losses > 0 ? [warning(`${numbered(losses, 'warning')} about tests`)] : [];
}

function checkFact(check: NonNullable<Shown['check']> | null): Fact {
  if (check === null) return warning('checks not run on this commit');
  const count = numbered(check.parts?.length ?? 1, 'check');
  const { passed = 0, failed = 0, skipped = 0 } = check.cases ?? {};
  const cases = passed + failed + skipped;
  const words = [count, ...(cases > 0 ? [numbered(cases, 'case')] : [])].join(', ');
  return check.passed ? ok(words) : bad(`${words}: failed`);
}

function planFacts({ tasks = [], requirements = [] }: Shown): Facts {
  const criteria = tasks.reduce((sum, { acceptanceCriteria = [] }) => sum + acceptanceCriteria.length, 0);
  return {
    asks: `Build it in ${numbered(tasks.length, 'task')}?`,
    facts: [
      plain(criteria === 1 ? '1 criterion' : `${criteria} criteria`),
      plain(numbered(requirements.length, 'requirement')),
    ],
    size: numbered(tasks.length, 'task'),
  };
}

function documentFacts({ documents = [], unknownFiles = [] }: Shown): Facts {
  return {
    asks: 'Is this the design?',
    facts: [
      plain(documents.map(({ title = '' }) => title).join(', ')),
      ...(unknownFiles.length > 0
        ? [warning(`names ${numbered(unknownFiles.length, 'file')} not there`)]
        : []),
    ],
    size: numbered(documents.length, 'document'),
  };
}

const DONE: ReadonlySet<string> = new Set(['completed', 'skipped']);

/** Tasks that are neither done nor the one that is asked about. */
function behind(tasks: Tasks, asked: string): readonly Fact[] {
  const left = tasks.filter(({ taskId, status }) => taskId !== asked && !DONE.has(status)).length;
  return left === 0 ? [] : [plain(`${numbered(left, 'task')} ${left === 1 ? 'waits' : 'wait'} behind it`)];
}

const plain = (text: string): Fact => ({ text, tone: 'plain' });
const ok = (text: string): Fact => ({ text, tone: 'ok' });
const warning = (text: string): Fact => ({ text, tone: 'warning' });
const bad = (text: string): Fact => ({ text, tone: 'bad' });

const numbered = (count: number, noun: string): string => `${count} ${count === 1 ? noun : `${noun}s`}`;

const firstLine = (text: string): string => text.trim().split('\n')[0] ?? '';
