import { randomUUID } from 'node:crypto';
import type { Database } from 'better-sqlite3';
import { HITL_ENTROPY_THRESHOLD } from '../../config/defaults.ts';
import { type EventSink, orchestratorEvents } from '../../events/events.ts';
import { type Fence, NO_FENCE } from '../../state/commits/immediateTransaction.ts';
import type { StoreOptions } from '../../state/rows/rows.ts';
import { StateFile } from '../../state/StateFile.ts';
import { assertUnitInterval, type GuardLevel, guardEvidence } from '../guards/lattice.ts';
import type { HumanInTheLoopManager } from './HumanInTheLoopManager.ts';

/** Data of a task that may be stuck. */
export interface StuckTask {
  /** Unique in the file. */
  readonly taskId: string;
  /** Stored with a session that belongs to no run. */
  readonly graphState?: unknown;
  /** Plain JSON for the person. */
  readonly evidence?: unknown;
  /** The task's run; its session is then answered with `decide`. */
  readonly threadId?: string;
  readonly fence?: Fence;
}

export interface GateEvaluationInput extends StuckTask {
  /** How often the task repeats itself, in [0, 1]; 1 is a tight loop. */
  readonly entropyScore: number;
  /** In [0, 1]; default: the gate's own. */
  readonly threshold?: number;
}

export interface GateOpening extends StuckTask {
  /** Why the task is handed over: `entropy_limit`, `pivots_exhausted`, … */
  readonly reason: string;
  /** In [0, 1]; 1 where no score led here. */
  readonly entropyScore?: number;
  /** What the guard measured. @defaultValue the score, against the gate's own threshold */
  readonly measured?: Pick<GuardLevel, 'measure' | 'level' | 'limit'>;
}

export type GateEvaluationResult =
  | { readonly triggered: false }
  | { readonly triggered: true; readonly sessionId: string };

/** An open gate of a task. */
export interface GateStatus {
  readonly triggered: true;
  readonly sessionId: string;
  readonly reason: string;
}

export interface TaskFailureGateOptions extends StoreOptions {
  /** An open, migrated state file; one that is in use already, with its own bus, clock and ids. */
  readonly db: Database | StateFile;
  /** Must work on the same connection, synchronously: it writes inside the gate's transaction. */
  readonly manager: HumanInTheLoopManager;
  /** In [0, 1]. @defaultValue {@link HITL_ENTROPY_THRESHOLD} */
  readonly defaultThreshold?: number;
  /** Defaults to the process-wide bus. */
  readonly events?: EventSink;
}

/**
 * Asks a person about a task, once, if the task repeats itself too often. The gate stays until it is answered; then it
 * moves to history and the task can open it again. Source: 9_ROADMAP-REQ-006.
 *
 * @example
 * ```ts
 * const gate = new TaskFailureGate({ db, manager });
 * const result = await gate.evaluate({ taskId: 'task-7', entropyScore: 0.8 });
 * if (result.triggered) console.log(`waiting for a person: ${result.sessionId}`);
 * ```
 */
export class TaskFailureGate {
  readonly #file: StateFile;
  readonly #manager: HumanInTheLoopManager;
  readonly #defaultThreshold: number;
  readonly #now: () => number;
  readonly #newId: () => string;

  constructor({
    db,
    manager,
    defaultThreshold = HITL_ENTROPY_THRESHOLD,
    events = orchestratorEvents,
    now = Date.now,
    newId = randomUUID,
  }: TaskFailureGateOptions) {
    assertUnitInterval('defaultThreshold', defaultThreshold);
    this.#file = db instanceof StateFile ? db : new StateFile(db, { events, now, newId });
    this.#manager = manager;
    this.#defaultThreshold = defaultThreshold;
    this.#now = now;
    this.#newId = newId;
  }

  /** The gate's own threshold, in [0, 1]. */
  get threshold(): number {
    return this.#defaultThreshold;
  }

  /**
   * Opens the task's gate if its score has reached the threshold; returns an open gate unchanged.
   *
   * @throws RangeError if score or threshold is outside [0, 1].
   * @throws TypeError if the manager's `pause` returns a promise; the file is unchanged then.
   * @throws DevsError `LEASE_LOST`, `VALUE_NOT_STORABLE`
   */
  async evaluate(input: GateEvaluationInput): Promise<GateEvaluationResult> {
    const { threshold = this.#defaultThreshold, ...task } = input;
    assertUnitInterval('entropyScore', task.entropyScore);
    assertUnitInterval('threshold', threshold);
    if (task.entropyScore < threshold) return { triggered: false };
    const measured = { measure: 'entropy', level: task.entropyScore, limit: threshold } as const;
    const { sessionId } = this.open({ ...task, reason: 'entropy_limit', measured });
    return { triggered: true, sessionId };
  }

  /**
   * Opens the task's gate for any score; returns an open gate unchanged.
   *
   * Check, session and gate are one synchronous write transaction, so one of several processes opens it.
   */
  open(opening: GateOpening): GateStatus {
    const { entropyScore = 1, fence = NO_FENCE } = opening;
    assertUnitInterval('entropyScore', entropyScore);
    return this.#file.commit((emit) => {
      fence.assertInTx();
      return this.getGateStatus(opening.taskId) ?? this.#insert(opening, entropyScore, emit);
    });
  }

  /** Returns the task's open gate, or `null`. */
  getGateStatus(taskId: string): GateStatus | null {
    const gate = this.#file.failureGates.findByTask(taskId);
    return gate === null ? null : { triggered: true, sessionId: gate.sessionId, reason: gate.reason };
  }

  /** Moves an open gate to history, because its run was rewound or started its next turn. */
  withdraw(taskId: string, sessionId: string, resolution: 'rewound' | 'cancelled' = 'rewound'): void {
    this.#file.failureGates.archive(taskId, { resolution, resolvedAt: this.#now(), sessionId });
  }

  #insert(opening: GateOpening, entropyScore: number, emit: EventSink['emit']): GateStatus {
    const { taskId, graphState, evidence, threadId, reason } = opening;
    const options = {
      ...(threadId !== undefined && { threadId }),
      ...(evidence !== undefined && { evidence }),
    };
    const isBare = Object.keys(options).length === 0;
    const sessionId = gateSessionId(this.#manager.pause(graphState, taskId, ...(isBare ? [] : [options])));
    this.#file.failureGates.insert({
      id: this.#newId(),
      taskId,
      entropyScore,
      triggeredAt: this.#now(),
      sessionId,
      reason,
    });
    const scope = { taskId, ...(threadId !== undefined && { threadId }) };
    emit('FAILURE_GATE_OPENED', { taskId, sessionId }, scope);
    emit('GUARD_TRIPPED', guardEvidence(this.#levelOf(opening, entropyScore)), scope);
    return { triggered: true, sessionId, reason };
  }

  #levelOf({ measured, reason, evidence }: GateOpening, score: number): GuardLevel {
    const level = measured ?? { measure: 'entropy', level: score, limit: this.#defaultThreshold };
    return { ...level, episode: '', evidence: { reason, ...(evidence !== undefined && { evidence }) } };
  }
}

/** A promise would resolve after the transaction, so its writes would not be part of it. */
function gateSessionId(session: unknown): string {
  const { id, then } = session as { readonly id?: unknown; readonly then?: unknown };
  if (typeof then === 'function') throw new TypeError('pause must be synchronous, got a promise.');
  if (typeof id !== 'string')
    throw new TypeError(`Expected pause to return a session with an id, got ${String(id)}.`);
  return id;
}
