import { internalsOf } from '../engine/appInternals.ts';
import type { Principal } from '../engine/gates/HumanInTheLoopManager.ts';
import { asHuman, principalText } from '../engine/gates/principals.ts';
import type { OrchestrationApp } from '../orchestration/orchestrationApp.ts';
import type { Delivery, Synced } from '../orchestration/ports.ts';
import { driverOf } from '../orchestration/task/driverOf.ts';
import type { PipelineDeps } from '../orchestration/task/pipelineDeps.ts';
import { ability } from './ability.ts';
import { withCurrentCommits } from './currentCommits.ts';
import { finishRewind } from './rewind/finishRewind.ts';

export interface SyncRequest {
  readonly by: Principal;
}

export interface SyncedRun extends Synced {
  readonly delivery: Delivery | null;
}

/** Carries a run over to the commits the user has made since; see {@link Run.sync}. */
export async function syncRun(
  id: string,
  { by }: SyncRequest,
  { app, pipeline }: { readonly app: OrchestrationApp; readonly pipeline: PipelineDeps },
): Promise<SyncedRun | null> {
  const human = asHuman(by, id, 'sync');
  return internalsOf(app).betweenNodes(id, async (lease) => {
    await finishRewind(lease, { app, pipeline });
    const workspace = await pipeline.workspace.open(id, { driver: driverOf(internalsOf(app).store, lease) });
    const { tasks = [] } = withCurrentCommits(await app.values(id), id, internalsOf(app).store) ?? {};
    const recorded = tasks.flatMap(({ gitHash }) => gitHash ?? []);
    const synced = await ability(workspace, 'sync')(recorded);
    if (synced === null) return null;
    const { base, commits, moved } = synced;
    internalsOf(app).store.commitUnder(lease, (emit) => {
      emit('RUN_SYNCED', { principal: principalText(human), base, commits, moved }, { threadId: id });
    });
    return { ...synced, delivery: (await workspace.deliver?.()) ?? null };
  });
}
