import { GraphDrained, GraphInterrupt } from '@langchain/langgraph';
import type { NewEvent } from '../../events/EventBus.ts';
import type { Reserve } from '../../state/steps/StepStore.ts';
import { interruptAsking, type Question, questionAbout } from '../gates/question.ts';
import { guardFact, warningLevel } from '../guards/lattice.ts';
import { type AskedCall, type BudgetVerdict, budgetLevel, type ScopedUse } from '../guards/RunBudgets.ts';
import type { RecordedNode } from './ActiveNode.ts';

/**
 * Makes a call once the budget allows it; `make` is told which attempt it is. A call that is not allowed waits for those
 * beside it, which may take less than is held back for them, and then asks a human.
 *
 * The question is no `interrupt()`: those are matched by position, and what a budget allows changes between two
 * executions of a node. The node leaves with a question of its own id, and its next execution looks again.
 *
 * @throws GraphInterrupt with the question.
 */
export async function admitCall(active: RecordedNode, call: AskedCall, how: AdmittedCall): Promise<void> {
  for (;;) {
    const { made, verdict } = await active.runs.whenFree(() => beginAdmitted(active, call, how));
    if (made !== null) return made;
    const ended = active.calls.next();
    if (ended === null) {
      active.question = new GraphInterrupt([interruptAsking(budgetQuestion(active, call, verdict))]);
      throw active.question;
    }
    await ended;
    if (active.visit.isDraining()) throw new GraphDrained('stopped before a step');
  }
}

export interface AdmittedCall {
  /** @throws where its node begins no more calls. */
  readonly assertMayBegin: () => void;
  readonly make: (attempt: number, reserve: Reserve) => Promise<void>;
}

/** Tracked before anybody else can look: callers side by side are refused in the same tick. */
function beginAdmitted(active: RecordedNode, call: AskedCall, { assertMayBegin, make }: AdmittedCall) {
  assertMayBegin();
  const { attempt, verdict } = intend(active, call);
  const made = attempt === null ? null : active.calls.track(() => make(attempt, verdict.reserve));
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
