// A graph inside a node goes on from its checkpoint whenever the node runs again, past every stop it stands at: for
// LangGraph, to run the node is to have answered. What it is given instead, as long as nobody has:
//
//   it stands after a node    the checkpoint before, with what the tasks wrote: LangGraph ends the super-step anew, and stops
//   else                      its checkpoint with a channel that is newer than all LangGraph has seen: where it was
//                             compiled to stop before what is next, it does
//
// Nothing runs twice: at a stop that nobody answered, no task has begun. What a graph that only a function knows stops
// after, nobody can tell; its super-step is ended anew unless a task, a graph or a step after it has begun.

import type { RunnableConfig } from '@langchain/core/runnables';
import type { CheckpointTuple } from '@langchain/langgraph-checkpoint';
import type { NamespaceKey } from '../../state/checkpoints/checkpointRecords.ts';
import type { UnfinishedInside } from '../../state/steps/stepRecords.ts';
import {
  type BreakpointPlace,
  breakpointId,
  dueBreakpoint,
  type InnerBreakpoints,
  namespacePath,
} from './Breakpoint.ts';

/** What is recorded around a stop. */
export interface BreakpointRecords {
  readonly sessions: {
    findByInterrupt(threadId: string, interruptId: string): { readonly decision: unknown } | null;
  };
  readonly checkpoints: {
    namespacesWithin(key: NamespaceKey): readonly { readonly checkpointNs: string; readonly seq: number }[];
    findSeq(checkpointId: string, threadId: string): number | null;
  };
  readonly steps: { hasUnfinishedInside(where: UnfinishedInside): boolean };
}

interface Inner extends Omit<BreakpointPlace, 'step'> {
  readonly runId: string;
}

interface CheckpointLookup {
  readonly store: BreakpointRecords;
  readonly breakpoints: InnerBreakpoints;
  readonly load: (config: RunnableConfig) => Promise<CheckpointTuple | undefined>;
}

/** The checkpoint from which a graph inside a node goes on. @param tuple - Its latest. */
export async function checkpointAt(
  tuple: CheckpointTuple,
  at: Inner,
  looking: CheckpointLookup,
): Promise<CheckpointTuple> {
  if ((tuple.pendingWrites ?? []).length > 0) return tuple; // a task has begun
  const { thread, checkpointNs, runId } = at;
  const id = breakpointId({ thread, checkpointNs, step: tuple.metadata?.step ?? 0 });
  const session = looking.store.sessions.findByInterrupt(runId, id);
  if (session !== null && session.decision !== null) return tuple;
  const parent = await superStepBefore(tuple, looking);
  if (parent === undefined) return withUnseenVersions(tuple);
  const endsAnew = session !== null || mayStandAfter({ tuple, parent }, at, looking);
  return endsAnew ? parent : withUnseenVersions(tuple);
}

/** `undefined` where there is none, or it was pruned. */
async function superStepBefore(
  { metadata, parentConfig }: CheckpointTuple,
  { load }: CheckpointLookup,
): Promise<CheckpointTuple | undefined> {
  return metadata?.source === 'loop' && parentConfig !== undefined ? await load(parentConfig) : undefined;
}

function mayStandAfter(
  standing: { readonly tuple: CheckpointTuple; readonly parent: CheckpointTuple },
  at: Inner,
  { store, breakpoints }: CheckpointLookup,
): boolean {
  const known = breakpoints.get(namespacePath(at.checkpointNs).join('|'));
  const isPossible =
    known === undefined
      ? !isHandled(standing.parent) && !hasStepInFlight(at, store)
      : dueBreakpoint(known, standing)?.when === 'after';
  return isPossible && !hasGraphInside(standing.tuple, at, store);
}

/** Whether an error was handled in the super-step after a checkpoint: its handler would run a second time. */
const isHandled = ({ pendingWrites = [] }: CheckpointTuple): boolean =>
  pendingWrites.some(([, channel]) => channel === '__error__');

/** To end the super-step before it anew would give its task another id, and the step another key. */
function hasStepInFlight({ runId, thread, checkpointNs }: Inner, { steps }: BreakpointRecords): boolean {
  const visitId = /^[^|:]*:([^|]*)/.exec(checkpointNs)?.[1];
  if (visitId === undefined) return true;
  return steps.hasUnfinishedInside({ threadId: runId, visitId, frame: thread, checkpointNs });
}

/** Whether a graph inside a task that starts from this checkpoint has begun. */
function hasGraphInside(
  { checkpoint }: CheckpointTuple,
  at: Inner,
  { checkpoints }: BreakpointRecords,
): boolean {
  const seq = checkpoints.findSeq(checkpoint.id, at.thread) ?? 0;
  const within = checkpoints.namespacesWithin({ threadId: at.thread, checkpointNs: at.checkpointNs });
  return within.some((inside) => inside.seq > seq);
}

/** Never in the file: a channel that no graph has. */
const UNSEEN = '__unseen__';

/** The checkpoint as one that LangGraph has not stopped at. */
function withUnseenVersions(tuple: CheckpointTuple): CheckpointTuple {
  const { checkpoint } = tuple;
  const channel_versions = { ...checkpoint.channel_versions, [UNSEEN]: 1 };
  return { ...tuple, checkpoint: { ...checkpoint, channel_versions } };
}

/** What of it is stored. */
export function withoutUnseenVersions<Versions extends Readonly<Record<string, unknown>>>(
  versions: Versions,
): Versions {
  if (!Object.hasOwn(versions, UNSEEN)) return versions;
  const { [UNSEEN]: _mark, ...stored } = versions;
  return stored as unknown as Versions;
}
