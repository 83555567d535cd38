// Calls that code around them may make several times in one execution, such as those of an agent: of a model, of a tool.

import { AsyncLocalStorage } from 'node:async_hooks';
import { isGraphBubbleUp } from '@langchain/langgraph';
import { faultInside, isRefusal } from '../execution/EngineFaults.ts';
import { asThrowable } from '../execution/thrown.ts';
import type { ActiveNode } from './ActiveNode.ts';
import { activeNode, currentNode, isAlone } from './nodeContext.ts';
import { type StepFunction, type StepOptions, step } from './step.ts';
import { claimOf, type StepPlace, stepPlace } from './stepPlace.ts';

/** The call around this code: where it is, and under which name. */
const around = new AsyncLocalStorage<{ readonly claim: string; readonly name: string }>();

/**
 * A step with a name that can be used again: the second call in one place is `name 2`. A call that throws gives its name
 * back. So the attempt that succeeds has the name, and its result returns when the node runs again.
 *
 * A call inside of another one in the same place is `outer/name`. It is not made if the outer result is recorded, so it
 * must not count.
 */
export async function repeatableStep<T>(
  name: string,
  fn: StepFunction<T>,
  options: StepOptions = {},
): Promise<T> {
  if (isAlone()) return step(name, fn, options);
  const active = activeNode('step()');
  const place = stepPlace(active);
  const claim = claimOf(place, '');
  const outer = around.getStore();
  const free = freeName(active, place, outer?.claim === claim ? `${outer.name}/${name}` : name);
  try {
    return await step(free, (call) => around.run({ claim, name: free }, () => fn(call)), options);
  } catch (error) {
    for (const names of [active.claims.names, active.stepNames]) names.delete(claimOf(place, free));
    throw error;
  }
}

/** The name with the next number that is not used in a place: `name`, `name 2`, … */
export function freeName({ claims }: ActiveNode, place: StepPlace, name: string): string {
  let free = name;
  for (let count = 2; claims.names.has(claimOf(place, free)); count += 1) free = `${name} ${count}`;
  return free;
}

/** Whether an error is the call's own failure, and not a stop or an end of the node around it. */
export function isOwnFailure(error: unknown): boolean {
  if (isGraphBubbleUp(asThrowable(error) as Error)) return false;
  const active = currentNode();
  if (active === null) return true;
  const { visit, fault, surroundings } = active;
  if (fault !== null || visit.signal.aborted || isRefusal(error)) return false;
  return faultInside(error, visit, surroundings) === null;
}
