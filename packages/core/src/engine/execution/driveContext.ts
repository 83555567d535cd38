import { AsyncLocalStorage } from 'node:async_hooks';
import type { Fence } from '../../state/commits/immediateTransaction.ts';

/** A drive, for all code that it calls: nodes, edges, the cache, the store. */
interface DriveContext {
  /** Of its lease. */
  readonly fence: Fence;
  /** Super-steps that were looked up in the cache, since a node was entered last. */
  lookupsInARow: number;
  /** Whether the super-step that is looked up next, or was last, is told what only this run is told: answers, signals. */
  answers: 'next' | 'last' | 'none';
}

const drives = new AsyncLocalStorage<DriveContext>();

/** Drives a run: everything that `drive` calls is inside it. */
export function withDriveContext<T>(fence: Fence, drive: () => T): T {
  return drives.run({ fence, lookupsInARow: 0, answers: 'none' }, drive);
}

/** The drive around this code; `null` outside one, such as in plain LangGraph use. */
export const currentDrive = (): DriveContext | null => drives.getStore() ?? null;

/** The next super-step of this drive is given answers, or what it waited for. */
export function noteAnswers(): void {
  const drive = currentDrive();
  if (drive !== null) drive.answers = 'next';
}

/** The node around this code has been told something that only its run was told. */
export function noteHeard(): void {
  const drive = currentDrive();
  if (drive !== null) drive.answers = 'last';
}

/** A node is entered: its super-step has had its lookup, if it has any. */
export function noteEntered(): void {
  const drive = currentDrive();
  if (drive === null) return;
  drive.lookupsInARow = 0;
  if (drive.answers === 'next') drive.answers = 'none';
}
