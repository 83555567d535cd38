import { activeVisit } from './activeVisit.ts';

/**
 * Marks progress: the depth guard starts counting anew when the surrounding node has finished (law L7).
 *
 * @throws TypeError outside a durable node.
 */
export function progress(): void {
  activeVisit('progress()').progressed = true;
}
