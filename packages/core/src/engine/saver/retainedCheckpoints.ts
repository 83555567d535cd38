import type { FencedLease } from '../../state/commits/immediateTransaction.ts';

/** Which checkpoints of a thread a prune keeps, beside those that others need, and on whose behalf it deletes. */
export interface PrunePolicy extends Retention {
  /**
   * The lease of the driver that prunes: refused with `LEASE_LOST` in its own transaction once a newer driver exists.
   * Without one nothing is fenced, and nobody may drive the thread meanwhile: a driver that goes on from an old
   * checkpoint would find it gone.
   */
  readonly lease?: FencedLease;
}

/** What is kept. */
export interface Retention {
  /** The newest ones of the thread, at least 1. */
  readonly keepLast: number;
  /** Ids of checkpoints that stay whatever their age, such as the ends of tasks a rewind may go back to. */
  readonly pinned?: readonly string[];
}

/** A checkpoint as retention sees it. */
export interface CheckpointSummary {
  /** Position in the order of insertion. */
  readonly seq: number;
  readonly checkpointNs: string;
  readonly checkpointId: string;
  readonly parentId: string | null;
  /** The root's checkpoint at which this one of a subgraph was made; `null` for the root's own. */
  readonly rootId: string | null;
  /** A question waits at it, or a session names it. */
  readonly waiting: boolean;
  /** Made of what its ancestors wrote. */
  readonly delta: boolean;
  /** Reads the sends of its step from its parent. */
  readonly readsParent: boolean;
}

/**
 * The checkpoints to keep: the first, the last ones, the pinned ones, those at which something waits, those from which
 * branches part, and what these are made of. A subgraph's checkpoints stay with the root's checkpoint they were made at.
 * Where it cannot be told what is needed, all stay: with delta channels, and in subgraphs that keep a state of their own.
 */
export function retainedCheckpoints(
  all: readonly CheckpointSummary[],
  { keepLast, pinned = [] }: Retention,
): ReadonlySet<CheckpointSummary> {
  const root = all.filter(({ checkpointNs }) => checkpointNs === '');
  const keep = new Set(retainedOfRoot(root, keepLast, new Set(pinned)));
  const keptIds = new Set([...keep].map(({ checkpointId }) => checkpointId));
  const withDelta = new Set(all.filter(({ delta }) => delta).map(({ checkpointNs }) => checkpointNs));
  for (const it of all) {
    const { checkpointNs, checkpointId, rootId, waiting } = it;
    const undecidable = isStateful(checkpointNs) || withDelta.has(checkpointNs);
    const belongs = checkpointNs !== '' && (rootId === null || keptIds.has(rootId));
    if (undecidable || belongs || waiting || pinned.includes(checkpointId)) keep.add(it);
  }
  return keep;
}

function retainedOfRoot(
  checkpoints: readonly CheckpointSummary[],
  keepLast: number,
  pinned: ReadonlySet<string>,
): readonly CheckpointSummary[] {
  const ordered = checkpoints.toSorted((a, b) => a.seq - b.seq);
  const branches = parentsOfSeveral(ordered);
  const kept = ordered.filter(
    ({ checkpointId, waiting }, index) =>
      index === 0 ||
      index >= ordered.length - keepLast ||
      waiting ||
      pinned.has(checkpointId) ||
      branches.has(checkpointId),
  );
  const parents = new Set(kept.flatMap(({ readsParent, parentId }) => (readsParent ? [parentId] : [])));
  return [...kept, ...ordered.filter(({ checkpointId }) => parents.has(checkpointId))];
}

function parentsOfSeveral(checkpoints: readonly CheckpointSummary[]): ReadonlySet<string | null> {
  const seen = new Set<string | null>();
  return new Set(
    checkpoints.flatMap(({ parentId }) => {
      if (seen.has(parentId)) return [parentId];
      seen.add(parentId);
      return [];
    }),
  );
}

/** A namespace without the id of a task is used again by every run of the subgraph. */
function isStateful(checkpointNs: string): boolean {
  const last = checkpointNs.slice(checkpointNs.lastIndexOf('|') + 1);
  return checkpointNs !== '' && !last.includes(':');
}
