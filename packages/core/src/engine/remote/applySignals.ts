import { DevsError } from '../../errors/DevsError.ts';
import { maskSensitiveData } from '../../masking/maskSensitiveData.ts';
import type { HitlSession, Principal } from '../../state/gates/hitlSession.ts';
import { cancelRun } from '../drive/cancelRuns.ts';
import type { Engine, RecordingEngine } from '../drive/Engine.ts';
import { signalRun } from '../drive/signalRun.ts';
import type { EngineStore } from '../EngineStore.ts';
import { isSamePrincipal } from '../gates/principals.ts';
import type { RunSignal } from '../runs/Runs.ts';

type DecisionSignal = RunSignal & { readonly kind: 'decision' };

/** Records a decision, with all checks. */
type RecordDecision = (decision: DecisionSignal, store: EngineStore) => unknown;

/** The engine of the file; `decide` is that of any graph where it is left out. */
export type SignalledEngine = RecordingEngine & Pick<Engine, 'leave'> & { readonly decide?: RecordDecision };

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
  if (signal.kind === 'pause') store.runs.signal(runId, { id: signal.id, kind: 'pause', payload: null });
  else if (signal.kind === 'cancel') await cancelRun(runId, signal.id, engine);
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
