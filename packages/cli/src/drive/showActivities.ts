import type { Orchestrator } from '@devs/core';
import { activityLines } from '../render/activityLines.ts';
import type { Line } from '../terminal/Line.ts';
import type { Output } from '../terminal/Output.ts';

/** Prints all that agents, checks and setup tell, as it comes; call the returned function to stop. */
export function showActivities(devs: Pick<Orchestrator, 'onActivity'>, out: Output): () => void {
  return devs.onActivity((activity) => {
    out.print(
      ...activityLines(activity).map(
        (line): Line => (typeof line === 'string' ? { style: 'dim', text: line } : line),
      ),
    );
  });
}
