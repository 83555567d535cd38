import type { BudgetLimits } from '../../config/budgetMeasures.ts';
import type { HitlSession } from '../../state/gates/hitlSession.ts';
import type { StateFile } from '../../state/StateFile.ts';
import type { NewStep, Reserve, StepKey, StepUsage } from '../../state/steps/stepRecords.ts';
import type { TurnSpending } from '../../state/steps/stepSpending.ts';
import { RecentMap } from '../../values/RecentMap.ts';
import {
  type Budget,
  isPassed,
  type LimitUse,
  limitsAbove,
  limitUses,
  raisedLimits,
  reserveOf,
} from './Budget.ts';
import type { GuardLevel } from './lattice.ts';

/** Runs whose declared budget is kept in memory. */
const KNOWN_RUNS = 64;

interface BudgetStores extends Pick<StateFile, 'threads' | 'steps' | 'sessions' | 'children' | 'times'> {
  /** Milliseconds since the Unix epoch. */
  readonly now: () => number;
}

/** A limit of the run, of one task, or of a run above it. */
export interface ScopedUse extends LimitUse {
  /** `null` for the run's own limit. */
  readonly taskId: string | null;
  /** The run above whose limit it is; absent for a limit of the run itself. */
  readonly run?: string;
}

/** A call that is about to be made. */
export interface AskedCall extends NewStep {
  /** What its author says it may cost. */
  readonly declared: Partial<Reserve>;
}

export interface BudgetVerdict {
  /** What the call must hold back. */
  readonly reserve: Reserve;
  /** Limits that forbid it; empty where it may be made. */
  readonly passed: readonly ScopedUse[];
  readonly uses: readonly ScopedUse[];
  /** Key of the question that asks for more: the next after those of this turn that a human has answered. */
  readonly question: string;
}

/** What a human was shown, as far as it says which limits the answer raises. */
interface AskedLimits {
  readonly limits: readonly Pick<ScopedUse, 'taskId' | 'measure' | 'run'>[];
}

/**
 * The budgets of runs, anew in each turn: declared at their start, raised by recorded decisions, used up by recorded steps. Nothing is
 * counted in memory, so a kill loses nothing but driven time since the last record. What a child run uses counts in every run
 * above it, too, but for its time.
 */
export class RunBudgets {
  readonly #stores: BudgetStores;
  readonly #declared = new RecentMap<string, Budget>(KNOWN_RUNS);
  /** Runs above a run that have a budget; whose child a run is stays as it is. */
  readonly #limitedAbove = new RecentMap<string, readonly string[]>(KNOWN_RUNS);
  /** When driven time was last recorded, by run. */
  readonly #marks = new Map<string, number>();

  constructor(stores: BudgetStores) {
    this.#stores = stores;
  }

  isLimited(threadId: string): boolean {
    return this.#hasBudget(threadId) || this.#above(threadId).length > 0;
  }

  /** Whether a call may be made now. Call it in the transaction that records the call's intent. */
  judge(call: AskedCall): BudgetVerdict {
    this.markTime(call.threadId, call.taskId);
    return this.#verdict(call);
  }

  /** The limits that a call in flight has reached with its usage so far. Without driven time. */
  spentBy(
    call: AskedCall,
    { tokensIn = 0, tokensOut = 0, costUsd: usd = 0, requests: calls = 0 }: StepUsage,
  ) {
    const used: BudgetLimits = { usd, tokens: tokensIn + tokensOut, calls };
    const { uses } = this.#verdict(call);
    return uses.filter(
      ({ measure, limit, spent, reserved }) =>
        measure !== 'ms' && spent + reserved + (used[measure] ?? 0) >= limit,
    );
  }

  #verdict(call: AskedCall): BudgetVerdict {
    const { threadId, taskId, declared } = call;
    const { perTask = {}, ...ofRun } = this.#budgetOf(threadId);
    const spending = this.#stores.steps.spendingBefore(call, null);
    const answers = this.#answersIn(threadId, spending.turn);
    const reserve = reserveOf(declared, spending);
    const used = { ...this.#withChildren(threadId, spending, call), ms: this.#stores.times.ofTurn(threadId) };
    const runUses = limitUses(raisedLimits(ofRun, this.#raisesOfRun(threadId, answers)), used, reserve);
    const uses = [
      ...runUses.map((use): ScopedUse => ({ ...use, taskId: null })),
      ...(taskId === null
        ? []
        : this.#taskUses(call, raisedLimits(perTask, raisesOf(answers, { taskId })), reserve)),
      ...this.#above(threadId).flatMap((run) => this.#usesAbove(run, call, reserve)),
    ];
    const question = `${questionsOf(threadId, spending.turn)}${answers.length}`;
    return { reserve, uses, passed: uses.filter(isPassed), question };
  }

  /** How the run's own limits are used up in its turn now, those of tasks aside. */
  usesOf(threadId: string): readonly LimitUse[] {
    const { steps, times } = this.#stores;
    const { perTask: _, ...limits } = this.#budgetOf(threadId);
    const spending = steps.spendingBefore({ threadId, lgTaskId: '', name: '' }, null);
    const used = { ...this.#withChildren(threadId, spending), ms: times.ofTurn(threadId) };
    const raises = this.#raisesOfRun(threadId, this.#answersIn(threadId, spending.turn));
    return limitUses(raisedLimits(limits, raises), used, { usd: 0, tokens: 0 });
  }

  /** Driven time counts from here. */
  startClock(threadId: string): void {
    this.#marks.set(threadId, this.#stores.now());
  }

  stopClock(threadId: string): void {
    this.#marks.delete(threadId);
  }

  /** Records the time driven since the last mark, in the caller's transaction. A clock set back adds nothing. */
  markTime(threadId: string, taskId: string | null): void {
    const since = this.#marks.get(threadId);
    if (since === undefined || !this.#countsTime(threadId)) return;
    const now = this.#stores.now();
    this.#marks.set(threadId, now);
    if (now > since) this.#stores.times.add(threadId, taskId, now - since);
  }

  #taskUses(call: AskedCall, limits: BudgetLimits, reserve: Reserve): readonly ScopedUse[] {
    const { threadId, taskId } = call;
    if (taskId === null || Object.keys(limits).length === 0) return [];
    const { steps, times } = this.#stores;
    const used = { ...steps.spendingBefore(call, taskId), ms: times.of(threadId, taskId) };
    return limitUses(limits, used, reserve).map((use) => ({ ...use, taskId }));
  }

  /** How a call of a run below stands to the limits of this one. Its time is its own: that of its children runs beside it. */
  #usesAbove(run: string, call: AskedCall, reserve: Reserve): readonly ScopedUse[] {
    const limits = limitsAbove(this.#budgetOf(run));
    const { steps } = this.#stores;
    const spending = steps.spendingBefore({ ...call, threadId: run }, null);
    const used = { ...this.#withChildren(run, spending, call), ms: 0 };
    const raises = this.#raisesOfRun(run, this.#answersIn(run, spending.turn));
    return limitUses(raisedLimits(limits, raises), used, reserve).map((use) => ({
      ...use,
      taskId: null,
      run,
    }));
  }

  /** What a turn of a run has spent, with what the children that it has begun have. */
  #withChildren(threadId: string, own: TurnSpending, asking: Partial<StepKey> = {}): TurnSpending {
    const { steps, children } = this.#stores;
    const { lgTaskId = '', name = '' } = asking;
    const below = children
      .belowInTurn(threadId)
      .map((id) => steps.spendingBefore({ threadId: id, lgTaskId, name }, null));
    const sum = (of: (one: TurnSpending) => number): number =>
      below.reduce((total, one) => total + of(one), of(own));
    const sums: Omit<TurnSpending, 'turn' | 'largestUsd' | 'largestTokens' | 'largestCalls'> = {
      usd: sum(({ usd }) => usd),
      tokens: sum(({ tokens }) => tokens),
      calls: sum(({ calls }) => calls),
      reservedUsd: sum(({ reservedUsd }) => reservedUsd),
      reservedTokens: sum(({ reservedTokens }) => reservedTokens),
    };
    return { ...own, ...sums };
  }

  /** What humans have added to a run's own limits in this turn, at its gates and at those of runs below it. */
  #raisesOfRun(threadId: string, answers: readonly HitlSession[]): readonly BudgetLimits[] {
    const { sessions, children } = this.#stores;
    const below = children.belowInTurn(threadId).flatMap((id) => sessions.listDecided(id, 'budget'));
    return [...raisesOf(answers, { taskId: null }), ...raisesOf(below, { taskId: null, run: threadId })];
  }

  #above(threadId: string): readonly string[] {
    const known = this.#limitedAbove.get(threadId);
    if (known !== undefined) return known;
    const above = this.#stores.children.above(threadId).filter((id) => this.#hasBudget(id));
    this.#limitedAbove.set(threadId, above);
    return above;
  }

  #hasBudget(threadId: string): boolean {
    return Object.keys(this.#budgetOf(threadId)).length > 0;
  }

  /** What humans have answered in a turn: a raise of an earlier one is over with it. */
  #answersIn(threadId: string, turn: number): readonly HitlSession[] {
    const decided = this.#stores.sessions.listDecided(threadId, 'budget');
    const own = questionsOf(threadId, turn);
    return turn === 1 ? decided : decided.filter(({ questionKey }) => questionKey?.startsWith(own) === true);
  }

  #countsTime(threadId: string): boolean {
    const { ms, perTask } = this.#budgetOf(threadId);
    return (ms ?? perTask?.ms) !== undefined;
  }

  #budgetOf(threadId: string): Budget {
    const known = this.#declared.get(threadId);
    if (known !== undefined) return known;
    const thread = this.#stores.threads.get(threadId);
    const budget = (thread?.policies['budget'] ?? {}) as Budget;
    if (thread !== null) this.#declared.set(threadId, budget);
    return budget;
  }
}

/** Before the number of a turn's budget question. A first turn's are named as those of a run without turns. */
function questionsOf(threadId: string, turn: number): string {
  return turn === 1 ? `budget/${threadId}/` : `budget/${threadId}/turn ${turn}/`;
}

/** What humans have added to the limits of a scope: an answer raises the limits its question showed. */
function raisesOf(
  answers: readonly HitlSession[],
  { taskId, run }: Pick<ScopedUse, 'taskId' | 'run'>,
): readonly BudgetLimits[] {
  return answers.flatMap(({ question, decision }) => {
    const { artifact } = question as { readonly artifact: AskedLimits };
    const shown = artifact.limits.filter((limit) => limit.taskId === taskId && limit.run === run);
    const raise = decision as BudgetLimits;
    return shown.map(({ measure }): BudgetLimits => ({ [measure]: raise[measure] ?? 0 }));
  });
}

/** A limit of a budget as its guard reports it; `episode` is the limit, which a human's answer raises. */
export function budgetLevel(use: ScopedUse, level: number): GuardLevel {
  const { measure, limit, spent, reserved, next } = use;
  return { measure, level, limit, episode: String(limit), evidence: { spent, reserved, next } };
}
