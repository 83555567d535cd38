import type { Thread } from '../../state/threads/threadRecords.ts';
import type { Engine } from '../drive/Engine.ts';
import { holdLease, releasing } from '../drive/lease.ts';
import { isOver } from '../drive/outcome.ts';
import { type Principal, asHuman, principalText } from '../gates/principals.ts';
import { type DeclaredChanges, type GraphShape, type RemovedNames, graphChanges, isNameList, isOfGraph, isSameGraph, recordedShape, removedNames } from '../graph/graphShape.ts';
import { GraphMapping, notAccepted } from './GraphMapping.ts';
import { assertChangeNames, changesFor, gatesGone } from './graphChanges.ts';
import { type MovingEngine, type RunMove, commitRunMove, planRunMove } from './moveRun.ts';

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
