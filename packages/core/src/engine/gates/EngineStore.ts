import { randomUUID } from 'node:crypto';
import type { Database } from 'better-sqlite3';
import { HITL_ENTROPY_THRESHOLD } from '../../config/defaults.ts';
import { type Limits, validLimits } from '../../config/limits.ts';
import { DEFAULT_PRICES, type PriceTable } from '../../config/prices.ts';
import { DevsError } from '../../errors/DevsError.ts';
import type { EventBus } from '../../events/events.ts';
import type { CommitBarrier } from '../../state/commits/CommitBarrier.ts';
import type { RunStore } from '../../state/RunStore.ts';
import { SqliteRunStore } from '../../state/SqliteRunStore.ts';
import { StateFile } from '../../state/StateFile.ts';
import type { ResultCodec } from '../../state/steps/stepRecords.ts';
import type { HostIdentity } from '../../state/threads/hostIdentity.ts';
import { assertUnitInterval } from '../guards/lattice.ts';
import { RunBudgets } from '../guards/RunBudgets.ts';
import { ENGINE_GATES, type GateRules } from './engineGates.ts';
import { HumanInTheLoopManager } from './HumanInTheLoopManager.ts';
import { TaskFailureGate } from './TaskFailureGate.ts';

export interface EngineStoreOptions {
  readonly events: EventBus;
  /** Milliseconds since the Unix epoch. */
  readonly now?: () => number;
  readonly newId?: () => string;
  /** Entropy score in [0, 1] from which a task is handed to a human. */
  readonly entropyThreshold?: number;
  /** What tokens cost. @defaultValue {@link DEFAULT_PRICES} */
  readonly prices?: PriceTable;
  /** How large may be what is recorded. @defaultValue `DEFAULT_LIMITS` */
  readonly limits?: Partial<Limits>;
  /** The kinds of gates the graph asks. @defaultValue those of any graph */
  readonly rules?: GateRules;
  /** For results of steps that are more than JSON. @defaultValue none: they are refused */
  readonly codec?: ResultCodec;
  /** @defaultValue what is committed has arrived */
  readonly outlet?: CommitBarrier;
  /** Whose leases are told alive or gone from here. @defaultValue this machine */
  readonly host?: HostIdentity;
  /** Ends of runs get a position among those of every run, too: webhooks read them. @defaultValue false */
  readonly numbersEnds?: boolean;
}

/**
 * An open state file, with what the engine judges by.
 *
 * @throws DevsError `STATE_CORRUPT` if recorded decisions were edited, removed or reordered (law L2).
 * @throws RangeError if the entropy threshold is not in [0, 1], or as `validLimits`.
 */
export class EngineStore extends StateFile {
  /** What is written of runs. */
  readonly runs: RunStore;
  readonly budgets: RunBudgets;
  readonly prices: PriceTable;
  readonly limits: Limits;
  readonly rules: GateRules;
  readonly manager: HumanInTheLoopManager;
  readonly failureGate: TaskFailureGate;
  /** Milliseconds since the Unix epoch. */
  readonly now: () => number;

  constructor(
    db: Database,
    {
      events,
      now = Date.now,
      newId = randomUUID,
      entropyThreshold = HITL_ENTROPY_THRESHOLD,
      prices = DEFAULT_PRICES,
      limits,
      rules = ENGINE_GATES,
      codec,
      outlet,
      host,
      numbersEnds = false,
    }: EngineStoreOptions,
  ) {
    assertUnitInterval('entropyThreshold', entropyThreshold);
    super(db, {
      events,
      now,
      newId,
      numbersEnds,
      ...(codec && { codec }),
      ...(outlet && { outlet }),
      ...(host && { host }),
    });
    this.#assertDecisions();
    this.now = now;
    this.prices = prices;
    this.limits = validLimits(limits);
    this.rules = rules;
    const budgets = new RunBudgets(this);
    this.budgets = budgets;
    this.runs = new SqliteRunStore(this, {
      markTime: (threadId, taskId) => budgets.markTime(threadId, taskId),
    });
    this.manager = new HumanInTheLoopManager(this, { rules, now, newId, limits: this.limits });
    this.failureGate = new TaskFailureGate({
      ...{ db: this, manager: this.manager, now, newId },
      defaultThreshold: entropyThreshold,
    });
  }

  #assertDecisions(): void {
    const verdict = this.decisions.verify();
    if (verdict.ok) return;
    throw new DevsError(`The decision log does not match the gates: ${verdict.reason}.`, {
      code: 'STATE_CORRUPT',
      remedy: 'Recorded decisions were changed. Restore the state file from a backup, or find the cause.',
      context: { line: verdict.seq ?? 0 },
    });
  }
}
