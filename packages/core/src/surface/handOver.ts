import { StepActivities } from '../engine/activity/StepActivities.ts';
import { endingWith } from '../errors/endingWith.ts';
import type { EventBus } from '../events/EventBus.ts';
import type { OpenOptions, RunWorkspace } from '../orchestration/ports.ts';
import { NullRunStore } from '../state/NullRunStore.ts';
import type { PipelineResult } from './views.ts';

/** Gives a run's branch to the user's repository. Outside of any lease, so what it tells is shown and not kept. */
export function handOver(
  threadId: string,
  events: EventBus,
  open: (options: OpenOptions) => Promise<RunWorkspace | null>,
): Promise<Pick<PipelineResult, 'commits' | 'delivery'>> {
  const step = { threadId, lgTaskId: '', name: 'deliver', attempt: 1, node: 'deliver', taskId: null };
  const told = new StepActivities(step, Date.now(), {
    runs: new NullRunStore(events),
    at: { threadId: step.threadId, epoch: null },
    events,
  });
  told.begin();
  return endingWith(
    () => told.end(),
    async () => {
      const workspace = await open({ onActivity: told.tell });
      return {
        commits: (await workspace?.log()) ?? [],
        delivery: (await workspace?.deliver?.()) ?? null,
      };
    },
  );
}
