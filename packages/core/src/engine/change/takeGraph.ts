import { DevsError, isDevsError } from '../../errors/DevsError.ts';
import { hasEnded, type Lease, type Thread, type ThreadStatus } from '../../state/threads/threadRecords.ts';
import { isRecord } from '../../values/isRecord.ts';
import type { Engine } from '../drive/Engine.ts';
import { holdLease, nullIfBusy, releasing } from '../drive/lease.ts';
import { isOver } from '../drive/RunResult.ts';
import { recordedInput } from '../drive/runInput.ts';
import { asHuman, type Principal, principalText } from '../gates/principals.ts';
import {
  type DeclaredChanges,
  type GraphShape,
  graphChanges,
  graphFingerprint,
  isNameList,
  isOfGraph,
  isSameGraph,
  type RemovedNames,
  recordedShape,
  removedNames,
} from '../graph/graphShape.ts';
import { GraphMapping, type NotAcceptedReason, notAccepted } from './GraphMapping.ts';
import { assertChangeNames, changesFor, gatesGone } from './graphChanges.ts';
import { commitRunMove, type MovingEngine, planRunMove, type RunMove } from './moveRun.ts';

// A run goes on with a changed graph without a human, unless it stands on something that is gone or means something else.

export type TakingEngine = MovingEngine & Pick<Engine, 'graphChanges'>;

/** Why a graph does not take a run; the others are those of `acceptGraph`. */
type RefusalReason =
  | NotAcceptedReason
  /** A newer graph has driven the run. */
  | 'earlier_graph'
  /** Its input was not taken up yet, and is for a channel that is gone. */
  | 'input_lost'
  /** The graph lacks all nodes of the run. */
  | 'other_graph'
  /** The author's `version` differs. */
  | 'version';

/** A run that this graph would take. */
interface TakenRun extends RunMove {
  readonly changes: readonly string[];
}

/**
 * The move of a run that goes on with this graph; `null` where the graph is its own. Only reads.
 *
 * @throws DevsError `GRAPH_CHANGED` with a `reason` and every difference in its context.
 */
export async function planTake(thread: Thread, engine: TakingEngine): Promise<TakenRun | null> {
  const { threadId } = thread;
  const { shape: now } = engine;
  if (isSameGraph(thread, now)) return null;
  const before = recordedShape(thread);
  const changes = graphChanges(before, now);
  const refuse = (reason: RefusalReason, why: string, cause?: unknown): never => {
    throw graphChanged(threadId, { changes, reason, why, cause });
  };
  const known = before ?? refuse('not_recorded', 'The names in its graph were not recorded');
  assertNewer(thread, known, engine, refuse);
  const { graphChanges: declared = {} } = engine;
  const plan = async (): Promise<TakenRun> => {
    const mapping = new GraphMapping({ threadId, before: known, now }, changesFor(known, now, declared));
    const move = await planRunMove(thread, { before: known, mapping }, engine);
    const [gone] = gatesGone(known, now, mapping, declared.removed);
    if (gone !== undefined) refuse('gate_removed', `Gate "${gone}" is gone and not declared as removed`);
    const lost = move.input === null ? undefined : await lostInput(threadId, mapping, engine);
    if (lost !== undefined) refuse('input_lost', `Its input is for channel "${lost}", which is gone`);
    return { ...move, changes };
  };
  return plan().catch((error: unknown) => {
    if (!isDevsError(error, 'GRAPH_NOT_ACCEPTED')) throw error;
    return refuse(error.context['reason'] as NotAcceptedReason, whyOf(error), error);
  });
}

/** A channel of a recorded input that is gone. */
async function lostInput(
  threadId: string,
  mapping: GraphMapping,
  engine: TakingEngine,
): Promise<string | undefined> {
  const { input } = await recordedInput(threadId, engine);
  const { removed = [] } = engine.graphChanges ?? {};
  const named = isNameList(removed) ? removed : (removed.channels ?? []);
  return Object.keys(isRecord(input) ? input : {}).find(
    (name) => mapping.channel(name) === null && !named.includes(name),
  );
}

/** Refusals by the names alone. */
function assertNewer(
  thread: Thread,
  before: GraphShape,
  { shape: now, store, recordedAs, graphChanges: { renamed } = {} }: TakingEngine,
  refuse: (reason: RefusalReason, why: string) => never,
): void {
  const { threadId, graphFingerprint: recorded } = thread;
  if (store.threads.graphs.isEarlier(graphFingerprint(now), recorded))
    refuse('earlier_graph', 'A newer version of the graph has executed it');
  if (before.version !== now.version) refuse('version', 'The versions differ');
  const isNamed = recordedAs === undefined || isOfGraph(recordedAs, threadId, store);
  const isIts = (name: string): boolean =>
    now.nodes.includes(name) || Object.hasOwn(renamed?.nodes ?? {}, name);
  if (!isNamed || (before.nodes.length > 0 && !before.nodes.some(isIts)))
    refuse('other_graph', 'None of its nodes is left');
}

/** The reason alone, as a sentence of its own. */
function whyOf({ message }: DevsError): string {
  const why = message.replace(/^.*? cannot continue with this graph: /s, '').replace(/\.$/, '');
  return why.charAt(0).toUpperCase() + why.slice(1);
}

const BACK: Partial<Record<RefusalReason, string>> = {
  earlier_graph:
    'Resume the run with the newer version of the program, or take it back to this one with acceptGraph() or devs accept-graph.',
  gate_removed:
    'Declare the gate in graphChanges.removed, if waiting runs may pass without being asked there.',
};

const DEFAULT_REMEDY =
  'Resume the run with the version of the program that started it, or declare the renamed and removed names in graphChanges, with acceptGraph() or devs accept-graph.';

interface Refusal {
  readonly changes: readonly string[];
  readonly reason: RefusalReason;
  readonly why: string;
  readonly cause: unknown;
}

function graphChanged(threadId: string, { changes, reason, why, cause }: Refusal): DevsError {
  const told = changes.join('; ');
  const graph = reason === 'earlier_graph' ? 'is on a newer graph' : 'was started with another graph';
  return new DevsError(`Run "${threadId}" ${graph}: ${told}. ${why}.`, {
    code: 'GRAPH_CHANGED',
    remedy: BACK[reason] ?? DEFAULT_REMEDY,
    context: { threadId, changes: told, reason },
    ...(cause !== undefined && { cause }),
  });
}

/**
 * Takes a run to this graph under its lease, before anything of it is executed: its latest checkpoint under the new names, the new
 * shape and `GRAPH_TAKEN` are one transaction. Leaves a run that is on this graph.
 *
 * @throws DevsError as {@link planTake}.
 */
export async function takeGraph(lease: Lease, engine: TakingEngine): Promise<void> {
  const { threadId } = lease;
  const plan = await planTake(engine.store.threads.require(threadId), engine);
  if (plan !== null) await commitTaken(plan, lease, engine);
}

function commitTaken({ changes, ...move }: TakenRun, lease: Lease, engine: TakingEngine): Promise<void> {
  const { threadId } = lease;
  const told = { changes: changes.join('; ') };
  return commitRunMove(
    move,
    lease,
    (emit, fingerprint) => emit('GRAPH_TAKEN', { ...told, fingerprint }, { threadId }),
    engine,
  );
}

/**
 * Moves the channels of a run between two turns to the names that its graph declares for them, before the next turn is
 * recorded. Other changes go with the record of that turn.
 */
export async function takeBetweenTurns(threadId: string, engine: TakingEngine): Promise<void> {
  const { store, shape: now, graphChanges: declared } = engine;
  const thread = store.threads.require(threadId);
  const before = recordedShape(thread);
  if (declared === undefined || before === null || !hasEnded(thread.status) || isSameGraph(thread, now))
    return;
  const known = changesFor(before, now, declared);
  if (Object.keys(known.renamed?.channels ?? {}).length === 0) return;
  if (store.threads.graphs.isEarlier(graphFingerprint(now), thread.graphFingerprint)) return;
  const mapping = new GraphMapping({ threadId, before, now }, known);
  const held = await nullIfBusy(() => holdLease(store.runs, threadId));
  if (held === null) return; // the record of the turn refuses it
  await releasing(held, async () => {
    if (held.lease.epoch !== thread.leaseEpoch + 1) return;
    const plan = await planRunMove(thread, { before, mapping, isBetweenTurns: true }, engine);
    await commitTaken({ ...plan, changes: graphChanges(before, now) }, held.lease, engine);
  });
}

/** Who accepts the graph as it is now, and what became of the names that are gone. */
export interface GraphAcceptance extends DeclaredChanges {
  readonly by: Principal;
}

/** What was accepted; no changes when the run's graph was this one already. */
export interface AcceptedGraph {
  readonly changes: readonly string[];
}

type AcceptingEngine = MovingEngine & Pick<Engine, 'graphChanges'>;

/**
 * Lets a run that was started on another graph go on with this one. Its latest checkpoint is written again under the
 * new names, on top; recorded steps, open questions and their answers stay with the visit they belong to. One
 * transaction under the run's lease: a refusal changes no row.
 *
 * @throws DevsError `AGENT_MAY_NOT_DECIDE`, `POLICY_NOT_DECLARED`: only a human may; `GRAPH_NOT_ACCEPTED` with its
 *   reason in the context; `THREAD_BUSY`, `THREAD_NOT_FOUND`.
 */
export async function acceptGraph(
  threadId: string,
  { by, ...declared }: GraphAcceptance,
  engine: AcceptingEngine,
): Promise<AcceptedGraph> {
  const human = asHuman(by, threadId, 'accept a changed graph for');
  assertChangeNames('app.acceptGraph()', declared);
  const { threads } = engine.store;
  for (;;) {
    const thread = threads.require(threadId);
    const isNamed = engine.recordedAs === undefined || isOfGraph(engine.recordedAs, threadId, engine.store);
    if (isNamed && isSameGraph(thread, engine.shape)) return { changes: [] };
    const { changes, ...plan } = await planFor(thread, declared, engine);
    const held = await holdLease(engine.store.runs, threadId);
    const accepted = await releasing(held, async () => {
      // Claiming is a write, so refusals come before it; a run that was driven in between is looked at again.
      const isUntouched = held.lease.epoch === thread.leaseEpoch + 1;
      if (!isUntouched) return false;
      const payload = { principal: principalText(human), changes: changes.join('; ') };
      await commitRunMove(
        plan,
        held.lease,
        (emit, fingerprint) => emit('GRAPH_ACCEPTED', { ...payload, fingerprint }, { threadId }),
        engine,
      );
      return true;
    });
    if (accepted) return { changes };
  }
}

async function planFor(
  thread: Thread,
  declared: DeclaredChanges,
  engine: AcceptingEngine,
): Promise<RunMove & AcceptedGraph> {
  const { threadId, status } = thread;
  const { shape: now } = engine;
  if (isOver(status)) throw notAccepted(threadId, 'ended', `it is ${status}`);
  const before = recordedShape(thread);
  if (before === null)
    throw notAccepted(threadId, 'not_recorded', 'the names in its graph were not recorded');
  const said = withProgram(declared, before, engine);
  const mapping = new GraphMapping({ threadId, before, now }, said);
  const plan = await planRunMove(thread, { before, mapping }, engine);
  const [gone] = gatesGone(before, now, mapping, said.removed);
  if (gone !== undefined)
    throw notAccepted(threadId, 'gate_removed', `gate "${gone}" was removed without a declaration`);
  return { ...plan, changes: graphChanges(before, now) };
}

/** The declaration for this run, with that of the program for all runs. */
function withProgram(
  { renamed = {}, removed = [] }: DeclaredChanges,
  before: GraphShape,
  { shape: now, graphChanges: program }: AcceptingEngine,
): DeclaredChanges {
  if (program === undefined) return { renamed, removed };
  const forAll = changesFor(before, now, program);
  const said = programNames(program);
  const own = isNameList(removed) ? [...removed] : Object.values(removed).flat();
  const known = removedNames(removed, before, now);
  const besides = (kind: 'nodes' | 'channels'): readonly string[] =>
    (removedNames(forAll.removed ?? [], before, now)[kind] ?? []).filter(
      (name) => said.includes(name) && !own.includes(name) && !Object.hasOwn(renamed[kind] ?? {}, name),
    );
  return {
    renamed: {
      nodes: { ...forAll.renamed?.nodes, ...renamed.nodes },
      channels: { ...forAll.renamed?.channels, ...renamed.channels },
    },
    removed: {
      nodes: [...(known.nodes ?? []), ...besides('nodes')],
      channels: [...(known.channels ?? []), ...besides('channels')],
      gates: [
        ...(known.gates ?? []),
        ...said.filter((name) => Object.hasOwn(before.gates, name) && !own.includes(name)),
      ],
    },
  };
}

const programNames = ({ removed = [] }: DeclaredChanges): readonly string[] =>
  isNameList(removed) ? removed : Object.values(removed as RemovedNames).flat();

/** A run that has not ended. */
interface CheckedRun {
  readonly id: string;
  readonly status: ThreadStatus;
  /** Every difference between its graph and this one, for people. */
  readonly changes: readonly string[];
}

interface RefusedUpgrade extends CheckedRun {
  readonly reason: RefusalReason;
  /** For people. */
  readonly why: string;
}

/** The runs that have not ended, on this graph; oldest first. */
export interface UpgradeCheck {
  /** Runs that are on this graph. */
  readonly unchanged: number;
  /** Runs that continue on it: renamed and removed names are moved when they are next executed. */
  readonly taken: readonly CheckedRun[];
  /** Runs that it refuses with `GRAPH_CHANGED`. */
  readonly refused: readonly RefusedUpgrade[];
  /** Ids of runs of another graph: this one lacks all their nodes. */
  readonly others: readonly string[];
}

/** One run on this graph. */
export type UpgradeLook =
  | { readonly is: 'unchanged' }
  | ({ readonly is: 'taken' } & CheckedRun)
  | ({ readonly is: 'refused' } & RefusedUpgrade);

/** As the next drive of the run decides it, without a write. */
export async function checkRun(id: string, engine: TakingEngine): Promise<UpgradeLook> {
  const thread = engine.store.threads.require(id);
  const { status } = thread;
  try {
    const plan = await planTake(thread, engine);
    return plan === null ? { is: 'unchanged' } : { is: 'taken', id, status, changes: plan.changes };
  } catch (error) {
    // The declaration of a gate refuses it, such as approvals without a known initiator.
    if (!isDevsError(error, 'GRAPH_CHANGED') && !isDevsError(error, 'INVALID_INPUT')) throw error;
    const { reason = 'gate_changed' } = error.context as { readonly reason?: RefusalReason };
    const changes = graphChanges(recordedShape(thread), engine.shape);
    return { is: 'refused', id, status, changes, reason, why: error.message };
  }
}

/** Adds up looks, in their order. */
export function upgradeCheckOf(looks: readonly UpgradeLook[]): UpgradeCheck {
  const of = <Is extends UpgradeLook['is']>(is: Is) =>
    looks.filter((look): look is Extract<UpgradeLook, { readonly is: Is }> => look.is === is);
  const refused = of('refused');
  return {
    unchanged: of('unchanged').length,
    taken: of('taken').map(({ is: _, ...run }) => run),
    refused: refused.filter(({ reason }) => reason !== 'other_graph').map(({ is: _, ...run }) => run),
    others: refused.filter(({ reason }) => reason === 'other_graph').map(({ id }) => id),
  };
}
