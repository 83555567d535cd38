import { DevsError } from '../../errors/DevsError.ts';
import { maskSensitiveData } from '../../masking/maskSensitiveData.ts';
import type { HitlSession, Principal } from '../../state/gates/hitlSession.ts';
import type { DriveOptions } from '../drive/drive.ts';
import type { Engine, RecordingEngine } from '../drive/Engine.ts';
import type { GraphParts } from '../drive/lastTurn.ts';
import { isOver } from '../drive/RunResult.ts';
import { cancelRun, signalRun, takeTurn } from '../drive/signals.ts';
import { recordStop } from '../drive/stopRequests.ts';
import type { AppFactory } from '../file/AppFactory.ts';
import type { FileApp } from '../file/FileApp.ts';
import type { EngineStore } from '../gates/EngineStore.ts';
import { isSamePrincipal } from '../gates/principals.ts';
import { turnOfSignal } from '../runs/notices.ts';
import type { LeasedRun, RunSignal } from '../runs/Runs.ts';

/** How a drive is called that hears what comes in meanwhile. */
export type DriveHooks = Required<Pick<DriveOptions, 'prepare' | 'lost' | 'settles'>> &
  Pick<DriveOptions, 'now'>;

/** The graph over the file of a held run, which takes what the run is told. */
export class LeasedApp<Graph, State, Update, Output> {
  readonly held: LeasedRun;
  readonly file: FileApp<Graph, State, Update, Output>;
  /** Given out, and not written yet: oldest first. */
  readonly #told: RunSignal[] = [];
  #turn: Promise<void> = Promise.resolve();

  constructor(held: LeasedRun, plan: AppFactory<Graph, State, Update, Output>) {
    this.held = held;
    this.file = plan.open({ db: held.db, outlet: held.outlet });
    if (held.isCopy) expireAllLeases(this.file.store);
  }

  /** Writes into the file what the run was told since. What could not be written is written by the next try. */
  take(): Promise<void> {
    return this.#inTurn(async () => {
      this.#told.push(...(await this.held.signals()));
      await this.#write(this.#told.length);
    });
  }

  /**
   * Drives the run; what it is told meanwhile is written into its file at once, so that it stops or goes on as it would if
   * that had been written there by whoever says it. The end of the run arrives when it is settled.
   *
   * @throws What the drive throws; what was told and cannot be written, since the run must not be settled then.
   */
  async drive<T>(drive: (how: DriveHooks) => Promise<T>): Promise<T> {
    await this.#takeBefore();
    let forget = (): void => {};
    const prepare = async (): Promise<void> => {
      forget = this.held.onSignal(() => void this.take().catch(() => undefined)); // it is tried again below
      await this.take();
    };
    const { lost, dueBy } = this.held;
    const now = dueBy === undefined ? {} : { now: Math.max(dueBy, this.file.store.now()) };
    const [driven] = await Promise.allSettled([drive({ prepare, lost, settles: true, ...now })]);
    forget();
    await this.#turn;
    if (driven.status === 'rejected') throw driven.reason;
    await this.#inTurn(() => this.#write(this.#told.length));
    return driven.value;
  }

  /**
   * A pause that nothing has followed is for the drive that begins, which would overtake one that was there before: it is
   * taken under its lease. What else the run was told is there before.
   */
  #takeBefore(): Promise<void> {
    return this.#inTurn(async () => {
      this.#told.push(...(await this.held.signals()));
      const isDone = isOver(this.file.store.threads.require(this.held.id).status);
      const isLast = this.#told.findLastIndex(({ kind }) => kind !== 'pause') + 1;
      await this.#write(isDone ? this.#told.length : isLast);
    });
  }

  async #write(count: number): Promise<void> {
    for (const signal of this.#told.slice(0, count)) {
      await applySignals(this.held.id, [signal], this.file.engine);
      this.#told.shift();
    }
  }

  #inTurn(work: () => Promise<void>): Promise<void> {
    const done = this.#turn.then(work);
    this.#turn = done.catch(() => undefined);
    return done;
  }
}

/** Whoever has a lease in a file that was handed out is gone. */
export function expireAllLeases({ threads, runs }: EngineStore): void {
  for (const { threadId, leaseOwner } of threads.list()) if (leaseOwner !== null) runs.evict(threadId);
}

type DecisionSignal = RunSignal & { readonly kind: 'decision' };

/** Records a decision, with all checks. */
type RecordDecision = (decision: DecisionSignal, store: EngineStore) => unknown;

/** The engine of the file; `decide` is that of any graph where it is left out. */
export type SignalledEngine = RecordingEngine &
  Pick<Engine, 'leave'> &
  GraphParts & { readonly decide?: RecordDecision };

/**
 * Writes what a run was told into its file, in the order it was told. What is there already is passed by, so a driver that
 * was killed in between writes the rest; what does not fit any more (a gate that was asked anew, a run that has ended) is
 * noted as `SIGNAL_PASSED_OVER` and harms nobody.
 *
 * @throws Faults of the file, as they are.
 */
export async function applySignals(
  runId: string,
  signals: readonly RunSignal[],
  engine: SignalledEngine,
): Promise<void> {
  for (const signal of signals) {
    try {
      await applySignal(runId, signal, engine);
    } catch (error) {
      passOver(runId, signal, error, engine);
    }
  }
}

async function applySignal(runId: string, signal: RunSignal, engine: SignalledEngine): Promise<void> {
  const { store } = engine;
  if (signal.kind === 'pause') recordStop(runId, signal.id, signal, store);
  else if (signal.kind === 'cancel') await cancelRun(runId, signal, engine);
  else if (signal.kind === 'turn') await takeTurn(turnOfSignal(runId, signal), engine);
  else if (signal.kind === 'message') signalRun(runId, signal, engine);
  else if (signal.kind === 'decision') takeDecision(signal, engine);
}

function takeDecision(decision: DecisionSignal, engine: SignalledEngine): void {
  const { sessionId, answer } = decision;
  if (isAnsweredBy(engine.store.sessions.require(sessionId), answer.by)) return;
  const { decide = applyDecision } = engine;
  decide(decision, engine.store);
}

/** By the checks that every process has: what only the program refuses it refuses where it is answered, on record. */
function applyDecision(decision: DecisionSignal, { manager }: EngineStore): void {
  const { sessionId, artifactHash, at, redacted, hidden = null, answer: given } = decision;
  const { by, via, ...answer } = given;
  manager.decide(sessionId, {
    ...{ artifactHash, answer, by, via, hidden },
    ...(at !== undefined && { at }),
    ...(redacted !== undefined && { redacted }),
  });
}

/** One who has decided a gate, or voted at one that is closed, has nothing more to say there. */
function isAnsweredBy({ status, principal, votes = [] }: HitlSession, by: Principal): boolean {
  if (status === 'awaiting_approval') return false;
  return [principal, ...votes.map((vote) => vote.principal)].some(
    (known) => known !== null && isSamePrincipal(known, by),
  );
}

/** Once: the same signal may be read again before it counts as taken. */
function passOver(runId: string, { id, kind }: RunSignal, error: unknown, { store }: SignalledEngine): void {
  if (!isSignalRefusal(error)) throw error;
  store.commit((emit) => {
    const known = store.log.listNamed(runId, 'SIGNAL_PASSED_OVER');
    if (known.some(({ payload }) => payload.id === id)) return;
    emit('SIGNAL_PASSED_OVER', { id, kind, why: maskSensitiveData(error.message) }, { threadId: runId });
  });
}

/** Of what is told, not of the file it is written to. */
const isSignalRefusal = (error: unknown): error is Error =>
  error instanceof DevsError
    ? !/^(?:STATE_|LEASE_LOST$|SCHEMA_)/.test(error.code)
    : error instanceof TypeError || error instanceof RangeError;
