import { AsyncLocalStorage } from 'node:async_hooks';
import type { RunnableConfig } from '@langchain/core/runnables';
import { currentDrive } from '../execution/driveContext.ts';
import type { EngineStore } from '../gates/EngineStore.ts';
import type { ActiveNode } from './ActiveNode.ts';

const storage = new AsyncLocalStorage<ActiveNode>();

export function runInNode<T>(active: ActiveNode, work: () => T): T {
  return storage.run(active, work);
}

/** Does `work` outside of the visit around this code. */
export function outsideNode<T>(work: () => T): T {
  return storage.run(undefined as unknown as ActiveNode, work);
}

/** @throws TypeError outside a node of a durable graph. */
export function activeNode(caller: string): ActiveNode {
  const active = storage.getStore();
  if (active !== undefined) return active;
  throw new TypeError(`${caller} must be called inside a node of a graph wrapped by durable().`);
}

/** The execution of a node that this code is in; `null` outside one. */
export const currentNode = (): ActiveNode | null => storage.getStore() ?? null;

/** Whether this code is in no run at all: a unit test of a node, or plain LangGraph use. */
export const isAlone = (): boolean => storage.getStore() === undefined && currentDrive() === null;

/** The rows of the run whose node this is; `null` outside one, and without a state file. */
export function currentNodeStore(): { readonly store: EngineStore; readonly threadId: string } | null {
  const active = storage.getStore();
  if (active === undefined || active.store === null) return null;
  return { store: active.store, threadId: active.visit.threadId };
}

/** LangGraph looks for the checkpoint of a graph that begins; outside a visit nobody wants to know. */
export function noteBegun(config: RunnableConfig): void {
  storage.getStore()?.inner.begins(config);
}

/**
 * Resets the depth guard when the surrounding node has finished (law L7). Does nothing outside `durable()`, such as in
 * a unit test of a node.
 *
 * @throws TypeError in a run outside its nodes, such as in an edge.
 */
export function progress(): void {
  if (!isAlone()) activeNode('progress()').progressed = true;
}
