import { activeVisit, isAlone } from './activeVisit.ts';

/**
 * Marks progress: the depth guard starts counting anew when the surrounding node has finished (law L7). Does nothing outside
 * `durable()`, such as in a unit test of a node.
 *
 * @throws TypeError in a driven run outside its nodes, such as in an edge.
 */
export function progress(): void {
  if (!isAlone()) activeVisit('progress()').progressed = true;
}
