// Changes that people make while a run waits: in its folder, and in their own repository.

import { internalsOf } from '../engine/file/appInternals.ts';
import { asHuman, type Principal, principalText } from '../engine/gates/principals.ts';
import type { OpenPipeline } from '../orchestration/graph.ts';
import type { Author, CheckResult, Delivery, PipelinePorts, Synced } from '../orchestration/ports.ts';
import { withCurrentCommits } from '../orchestration/storedState.ts';
import { ability, driverOf } from '../orchestration/task/openWorkspace.ts';
import { finishRewind } from './rewind/rewindRun.ts';

/** Whose changes the run goes on from. */
export interface Adoption {
  readonly by: Principal;
  /** Signs the commit. */
  readonly author: Author;
  /** @defaultValue "Changes made by hand" */
  readonly message?: string;
  /** Aborting it ends the checks; what was committed stays. */
  readonly signal?: AbortSignal;
}

export interface Adopted {
  readonly commit: string;
  /** How many were changed. */
  readonly files: number;
  /** What the run's checks say of it. The commit stays either way. */
  readonly checks: CheckResult;
  readonly delivery: Delivery | null;
}

const NEVER: AbortSignal = new AbortController().signal;

/** Commits what a person changed in the folder of a run; see {@link Run.adopt}. */
export async function adoptChanges(
  id: string,
  { by, author, message = 'Changes made by hand', signal = NEVER }: Adoption,
  { app, pipeline }: OpenPipeline<PipelinePorts>,
): Promise<Adopted | null> {
  const human = asHuman(by, id, 'adopt changes for');
  return internalsOf(app).betweenNodes(id, async (lease) => {
    await finishRewind(lease, { app, pipeline });
    const workspace = await pipeline.workspace.open(id, {
      signal,
      driver: driverOf(internalsOf(app).store, lease),
    });
    const principal = principalText(human);
    const adopted = await ability(workspace, 'adopt')({ author, message, principal });
    if (adopted === null) return null;
    internalsOf(app).store.commitUnder(lease, (emit) => {
      emit('CHANGES_ADOPTED', { principal, commit: adopted.commit, files: adopted.files }, { threadId: id });
    });
    const failure = (await workspace.ready?.(adopted.tree, signal)) ?? null;
    const checks = failure ?? (await pipeline.checks.run({ dir: workspace.dir, signal }));
    await workspace.discard?.(adopted.tree);
    const delivery = (await workspace.deliver?.()) ?? null;
    return { commit: adopted.commit, files: adopted.files, checks, delivery };
  });
}

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
  { app, pipeline }: OpenPipeline<PipelinePorts>,
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
