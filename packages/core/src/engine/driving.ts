import { AsyncLocalStorage } from 'node:async_hooks';
import type { ChildApp } from './children/childApps.ts';

/** What is known of a drive to all that it calls: nodes, edges, the cache. */
export interface Driving {
  /** Super-steps that were looked up in the cache, since a node was entered last. */
  lookupsInARow: number;
  /** Whether the super-step that is looked up next, or was last, is given answers of humans or policies. */
  answers: 'next' | 'last' | 'none';
  /** Apps of the child runs that nodes have called for in this drive, by their ids. */
  readonly childApps: Map<string, ChildApp>;
}

const drives = new AsyncLocalStorage<Driving>();

/** Drives a run: everything that `drive` calls is inside it. */
export function whileDriving<T>(drive: () => T): T {
  return drives.run({ lookupsInARow: 0, answers: 'none', childApps: new Map() }, drive);
}

/** The drive around this code; `null` outside one, such as in plain LangGraph use. */
export const driving = (): Driving | null => drives.getStore() ?? null;
