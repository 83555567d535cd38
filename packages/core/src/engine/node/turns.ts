import { isStorageFault } from '../../db/sqliteFault.ts';
import { isDevsError } from '../../errors/DevsError.ts';
import type { EventSink } from '../../events/EventBus.ts';
import type { EventScope } from '../../events/events.ts';
import { maskSensitiveData } from '../../masking/maskSensitiveData.ts';
import type { LangGraphCheckpoint, TurnType } from '../../state/types.ts';
import type { EngineStore } from '../EngineStore.ts';
import { depthContext, depthLevel } from '../guards/depthLevel.ts';
import type { GuardLevel } from '../guards/GuardLevel.ts';
import { checkRecursionDepth } from '../guards/recursionGuard.ts';
import { type GuardFinding, reportGuard, warningOf } from '../guards/reportGuard.ts';
import type { Visit } from '../visit.ts';
import { fieldsOf, mergedState } from './mergedState.ts';
import type { NodeOutput } from './nodeOutput.ts';
import type { RunnerDeps } from './RunnerDeps.ts';

/** Before the work: fence, event and the journal's Thought in one transaction. */
export function recordThought<State extends object>(
  visit: Visit,
  state: State,
  deps: RunnerDeps<State>,
): void {
  transactTurn({ turnType: 'Thought', visit, state }, deps, (emit, scope) => {
    emit('NODE_STARTED', { node: visit.node, attempt: visit.attempt }, scope);
    const events: EventSink = { emit: (name, payload) => emit(name, payload, scope) };
    checkRecursionDepth(depthContext(state, visit), { events, limit: deps.maxDepth });
    const level = depthLevel(state, visit, deps.maxDepth);
    for (const warning of warningOf(level)) reportGuard(warning, { store: deps.store, emit, scope });
  });
}

export interface FinishedTurn<State> {
  readonly before: State;
  readonly output: NodeOutput;
  readonly startedAt: number;
  /** Secrets masked in the node's output. */
  readonly redacted: number;
  /** What guards found in the node's output. */
  readonly findings: readonly GuardFinding[];
}

/** After the work: fence, events and the journal's Action, in the transaction of what LangGraph writes of the task. */
export function recordAction<State extends object>(
  visit: Visit,
  { before, output, startedAt, redacted, findings }: FinishedTurn<State>,
  deps: RunnerDeps<State>,
): void {
  const after = mergedState(before, output.update);
  const durationMs = deps.now() - startedAt;
  transactTurn({ turnType: 'Action', visit, state: after }, deps, (emit, scope) => {
    if (redacted > 0) emit('SECRET_REDACTED', { place: `node ${visit.node}`, count: redacted }, scope);
    deps.profile.announce(before, after, emit, scope);
    for (const finding of findings) reportGuard(finding, { store: deps.store, emit, scope });
    emit('NODE_FINISHED', { node: visit.node, durationMs }, scope);
  });
}

/** A node threw: an event that says whether it is tried again. */
export function recordFailure<State>(
  error: unknown,
  visit: Visit,
  { store, events, profile }: RunnerDeps<State>,
): void {
  const { node, attempt, threadId, lgTaskId } = visit;
  const message = maskSensitiveData(error instanceof Error ? error.message : String(error));
  const announce = (emit: EventSink['emit']): void => {
    if (profile.willRetry(error, attempt)) {
      emit('RETRIED', { node, attempt, message }, { threadId });
      return;
    }
    emit('NODE_FAILED', { node, message }, { threadId });
    if (attempt === 1 || !profile.willRetry(error, attempt - 1)) return;
    const level: GuardLevel = {
      measure: 'attempts',
      level: attempt,
      limit: attempt,
      episode: lgTaskId,
      evidence: { node, message },
    };
    reportGuard({ event: 'GUARD_TRIPPED', level }, { store, emit, scope: { threadId } });
  };
  if (store === null) announce((name, payload, scope) => events.emit(name, payload, scope));
  else store.commit(announce);
}

interface Turn<State> {
  readonly turnType: TurnType;
  readonly visit: Visit;
  readonly state: State;
}

function transactTurn<State extends object>(
  { turnType, visit, state }: Turn<State>,
  deps: RunnerDeps<State>,
  announce: (emit: EventSink['emit'], scope: EventScope) => void,
): void {
  const { store, events, profile } = deps;
  const taskId = profile.taskIdOf(state, visit.node);
  const scope = { threadId: visit.threadId, taskId };
  if (store === null) {
    announce((name, payload) => events.emit(name, payload, scope), scope);
    return;
  }
  const entry = {
    id: deps.newId(),
    graphId: visit.threadId,
    nodeName: visit.node,
    turnType,
    state: fieldsOf(state),
    taskId: taskId ?? profile.projectIdOf(state, visit.threadId),
    createdAt: new Date(deps.now()),
    visit: visit.lgTaskId,
  };
  const save = stagedTurn(store, entry);
  const record = (emit: EventSink['emit']): void => {
    store.fenceOf(visit).assertInTx();
    store.budgets.markTime(visit.threadId, taskId);
    announce(emit, scope);
    failOpen(store, visit, emit, save);
  };
  const { threadId, epoch } = visit;
  if (turnType === 'Thought' || epoch === null) store.commit(record);
  else store.withNext({ threadId, epoch }, record);
}

/** What cannot be serialized is told where the row would be written. */
function stagedTurn({ journal }: EngineStore, entry: LangGraphCheckpoint): () => void {
  try {
    return journal.stage(entry);
  } catch (error) {
    return () => {
      throw error;
    };
  }
}

/** Losing a line of the journal must not lose the turn; losing the disk or the lease must stop the run (law L6). */
function failOpen(store: EngineStore, visit: Visit, emit: EventSink['emit'], save: () => void): void {
  try {
    save();
  } catch (error) {
    if (isStorageFault(error) || isDevsError(error, 'LEASE_LOST')) throw error;
    const message = maskSensitiveData(String(error));
    const scope = { threadId: visit.threadId };
    emit('CHECKPOINT_SAVE_FAILED', { nodeName: visit.node, message }, scope);
    if (store.threads.get(visit.threadId)?.degraded === false) {
      store.threads.markDegraded(visit.threadId);
      emit('RUN_DEGRADED', { reason: message }, scope);
    }
  }
}
