import { GraphDrained, GraphInterrupt } from '@langchain/langgraph';
import { DevsError } from '../../errors/DevsError.ts';
import type { NewEvent } from '../../events/events.ts';
import type { NewStep, Reserve } from '../../state/steps/stepRecords.ts';
import { interruptAsking, type Question, questionAbout } from '../gates/question.ts';
import { guardFact, warningLevel } from '../guards/lattice.ts';
import { type AskedCall, type BudgetVerdict, budgetLevel, type ScopedUse } from '../guards/RunBudgets.ts';
import type { UsageReports } from '../guards/usage.ts';
import type { RecordedNode } from './ActiveNode.ts';

/**
 * Makes a call once the budget allows it; `make` is told which attempt it is. A call that is not allowed waits for those
 * beside it, which may take less than is held back for them, and then asks a human.
 *
 * The same holds for a call that ended before a request of its own that the budget did not allow.
 *
 * The question is no `interrupt()`: those are matched by position, and what a budget allows changes between two
 * executions of a node. The node leaves with a question of its own id, and its next execution looks again.
 *
 * @throws GraphInterrupt with the question.
 */
export async function admitCall(active: RecordedNode, call: AskedCall, how: AdmittedCall): Promise<void> {
  for (;;) {
    const { made, verdict } = await active.runs.whenFree(() => beginAdmitted(active, call, how));
    if (made !== null) {
      if (await hasEnded(made)) return;
      continue;
    }
    const ended = active.calls.next();
    if (ended === null) {
      active.question = new GraphInterrupt([interruptAsking(budgetQuestion(active, call, verdict))]);
      throw active.question;
    }
    await ended;
    if (active.visit.isDraining()) throw new GraphDrained('stopped before a step');
  }
}

/** False for a call that the budget stopped. @throws the error of the call. */
function hasEnded(made: Promise<void>): Promise<boolean> {
  return made.then(
    () => true,
    (error: unknown) => {
      if (error instanceof Error && spentInside.has(error)) return false;
      throw error;
    },
  );
}

interface AdmittedCall {
  /** @throws where its node begins no more calls. */
  readonly assertMayBegin: () => void;
  readonly make: (attempt: number, reserve: Reserve) => Promise<void>;
}

/** Tracked before anybody else can look: callers side by side are refused in the same tick. */
function beginAdmitted(active: RecordedNode, call: AskedCall, { assertMayBegin, make }: AdmittedCall) {
  assertMayBegin();
  const { attempt, verdict } = intend(active, call);
  const made = attempt === null ? null : make(attempt, verdict.reserve);
  return { made, verdict };
}

function intend(active: RecordedNode, call: AskedCall) {
  const { runs, store, visit } = active;
  return runs.beginStep(visit, call, () => {
    const verdict = store.budgets.judge(call);
    const near = verdict.uses.filter((one) => one.run === undefined && isNearLimit(one));
    const facts = near.map((use) => warningAbout(use, visit.threadId));
    return { ...verdict, mayBegin: verdict.passed.length === 0, facts };
  });
}

function warningAbout(use: ScopedUse, threadId: string): NewEvent {
  const level = budgetLevel(use, withCall(use));
  return guardFact({ event: 'GUARD_WARNED', level }, { threadId, taskId: use.taskId });
}

const withCall = ({ spent, reserved, next }: ScopedUse): number => spent + reserved + next;

/** The last call a limit allows may reach it, so a budget warns up to the limit itself. */
const isNearLimit = (use: ScopedUse): boolean => withCall(use) >= warningLevel(use.measure, use.limit);

function budgetQuestion({ visit }: RecordedNode, call: AskedCall, verdict: BudgetVerdict): Question {
  const { passed, question } = verdict;
  const words = passed.map(({ measure, spent, limit, taskId, run }) => {
    const whose = run !== undefined ? `run "${run}" above` : taskId === null ? 'run' : 'task';
    return `${whose}: ${Number(spent.toPrecision(6))} of ${limit} ${measure}`;
  });
  const artifact = { node: visit.node, step: call.name, limits: passed };
  return questionAbout(artifact, {
    kind: 'budget',
    key: question,
    taskId: call.taskId ?? visit.threadId,
    message: `The next call would exceed the budget (${words.join('; ')}).`,
  });
}

/** Errors of calls that the budget stopped. */
const spentInside = new WeakSet<Error>();

/** @throws DevsError `BUDGET_SPENT` where a call has used up the budget. */
export function assertNotSpent({ store, visit }: RecordedNode, step: NewStep, reports: UsageReports): void {
  if (step.kind === 'work' || !store.budgets.isLimited(visit.threadId)) return;
  const spent = store.budgets.spentBy({ ...step, declared: {} }, reports.total(store.prices));
  if (spent.length === 0) return;
  const words = spent.map(({ measure, limit }) => `${limit} ${measure}`).join(', ');
  const error = new DevsError(`The next request of step "${step.name}" would exceed the budget (${words}).`, {
    code: 'BUDGET_SPENT',
    remedy: 'Raise the budget of the run at its gate.',
  });
  spentInside.add(error);
  throw error;
}
