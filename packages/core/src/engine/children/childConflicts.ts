import { DevsError } from '../../errors/DevsError.ts';
import type { EngineStore } from '../EngineStore.ts';

interface ChildRequest {
  readonly childId: string;
  readonly parentId: string;
}

/**
 * A run is begun once, by one parent or by nobody's node, and no run waits for itself. Call it in the transaction that
 * begins the child.
 *
 * @returns Whether the child is there already.
 * @throws DevsError `CHILD_NOT_TAKEN`
 */
export function assertMayBeChild(asked: ChildRequest, { threads, children }: EngineStore): boolean {
  const { childId, parentId } = asked;
  if (childId === parentId) throw childConflict(asked, 'a run cannot be its own child');
  if (children.above(parentId).includes(childId))
    throw childConflict(asked, 'it is an ancestor of the parent');
  const known = children.find(childId);
  if (known !== null && known.parentId !== parentId)
    throw childConflict(asked, `it is already a child of "${known.parentId}"`);
  if (known === null && threads.get(childId) !== null)
    throw childConflict(asked, 'it was started as a separate run');
  return known !== null;
}

const childConflict = ({ childId, parentId }: ChildRequest, why: string): DevsError =>
  new DevsError(`Run "${childId}" cannot be a child of run "${parentId}": ${why}.`, {
    code: 'CHILD_NOT_TAKEN',
    remedy: 'Use a new id for the child, for example the id of its parent plus its purpose.',
    context: { threadId: parentId, child: childId },
  });
