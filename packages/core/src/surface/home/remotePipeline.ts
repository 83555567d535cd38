import { localApp } from '../../engine/app/durable.ts';
import type { EngineStore } from '../../engine/gates/EngineStore.ts';
import { graphFingerprint } from '../../engine/graph/graphShape.ts';
import { LeasedApp } from '../../engine/remote/LeasedApp.ts';
import { RunAccess } from '../../engine/remote/RunAccess.ts';
import type {
  LeasedRun,
  QueueOptions,
  RunDriver,
  RunQueue,
  RunRelease,
  Runs,
} from '../../engine/runs/Runs.ts';
import { releaseOf } from '../../engine/runs/standing.ts';
import type { NewRunRecord } from '../../engine/start/RunStarts.ts';
import { type OrchestrationPlan, orchestrationPlan } from '../../orchestration/graph.ts';
import type { OpenOptions, RunWorkspace, Workspace } from '../../orchestration/ports.ts';
import { gitRecord } from '../../state/GitPackStore.ts';
import { PipelineApp, type PipelineAppOptions } from '../PipelineApp.ts';
import {
  assertRemovable,
  type DriveRunOptions,
  driveRun,
  type PipelineFile,
  type PipelineSurroundings,
  type Removal,
  type RemovedRun,
  removeRun,
} from '../PipelineFiles.ts';
import { listedStatus, type PipelineResult, runStatus } from '../views.ts';

/** What the pipeline's runs are called among those of other graphs. */
const GRAPH = 'pipeline';

/** The pipeline over the file of a run. */
type RunFile = ReturnType<OrchestrationPlan['open']>;

type Standing = (id: string, file: RunFile) => Promise<RunRelease>;

const accessTo = (plan: OrchestrationPlan, runs: Runs, standing: Standing) =>
  new RunAccess(plan, { runs, standing });

const heldApp = (held: LeasedRun, plan: OrchestrationPlan) => new LeasedApp(held, plan);

/** The pipeline's runs that have a file each: the way to their files, and what drives them for a worker. */
export class RemotePipeline implements RunDriver {
  readonly queue: RunQueue;
  readonly #plan: OrchestrationPlan;
  readonly #surroundings: PipelineSurroundings;
  readonly access: ReturnType<typeof accessTo>;

  constructor(plan: OrchestrationPlan, runs: Runs, surroundings: PipelineSurroundings) {
    this.queue = { graph: GRAPH, fingerprint: graphFingerprint(plan.outline().shape) };
    this.#plan = plan;
    this.#surroundings = surroundings;
    this.access = accessTo(plan, runs, (id, file) => this.#standing(id, file));
  }

  /** Records a run and has it driven; one that is known stays as it is. */
  async admit(admission: NewRunRecord, place: QueueOptions): Promise<void> {
    await this.access.create(admission.threadId, { ...place, queue: this.queue }, async (file) => {
      await file.recordRun(admission);
      return true;
    });
  }

  /** Executes a run in this process, if no worker is faster. */
  driveHere(id: string, options: DriveRunOptions): Promise<PipelineResult> {
    return this.access.execute(id, (held) =>
      held.drive((told) => driveRun(id, options, this.over(held.file), told)),
    );
  }

  async drive(
    held: LeasedRun,
    { drain, signal }: { readonly drain: AbortSignal; readonly signal: AbortSignal },
  ): Promise<RunRelease> {
    const opened = heldApp(held, this.#plan);
    await opened.drive((told) => driveRun(held.id, { drain, signal }, this.over(opened.file), told));
    return this.#standing(held.id, opened.file);
  }

  /** Deletes a run with its file: folders and branches are where they are. */
  async remove(id: string, removal: Removal): Promise<RemovedRun> {
    const { workspace: _, ...asked } = removal;
    const assert = ({ store }: RunFile): void => void assertRemovable(id, asked, store);
    // Before it is held: who drives it need not be waited for where it is refused.
    await this.access.read(id, async (file) => assert(file));
    const here = async (file: RunFile): Promise<number> => (await removeRun(id, asked, localApp(file))).bytes;
    return { id, branch: null, bytes: await this.access.remove(id, { assert, here }) };
  }

  /** The pipeline over a run's own file; what git holds of the run is in that file too. */
  readonly over = (file: RunFile): PipelineFile => {
    const { pipeline, code } = this.#surroundings;
    const workspace = pipeline && travelling(pipeline.workspace, file.store);
    const app = PipelineApp.over(localApp(file));
    return { app, code, pipeline: pipeline && workspace && { ...pipeline, workspace } };
  };

  /** A run of this shape is driven by this release from then on. */
  async #standing(id: string, file: RunFile): Promise<RunRelease> {
    const { store } = file;
    const isOurs = store.threads.require(id).graphFingerprint === this.queue.fingerprint;
    const status = await runStatus(id, PipelineApp.over(localApp(file)));
    const listed = { title: status.title, view: listedStatus(status) };
    return { ...releaseOf(id, store), ...listed, ...(isOurs && { queue: this.queue }) };
  }
}

/** @param about - Options of the pipeline, but for a file. */
export const remotePipeline = (
  runs: Runs,
  about: Omit<PipelineAppOptions, 'db'>,
  surroundings: PipelineSurroundings,
): RemotePipeline =>
  new RemotePipeline(
    orchestrationPlan(surroundings.pipeline && { ...surroundings.pipeline, travels: true }, about, GRAPH),
    runs,
    surroundings,
  );

/** The workspace for runs whose files travel: what git holds of them is in the file that is driven. */
function travelling(workspace: Workspace, store: EngineStore): Workspace {
  return {
    dirOf: (id) => workspace.dirOf(id),
    open: (id: string, options: OpenOptions = {}): Promise<RunWorkspace> =>
      workspace.open(id, { ...options, record: gitRecord(id, store) }),
    ...(workspace.assertUsable && { assertUsable: () => workspace.assertUsable?.() ?? Promise.resolve() }),
    ...(workspace.readAt && { readAt: workspace.readAt.bind(workspace) }),
    ...(workspace.diff && { diff: workspace.diff.bind(workspace) }),
    ...(workspace.remove && { remove: workspace.remove.bind(workspace) }),
    ...(workspace.leave && { leave: workspace.leave.bind(workspace) }),
  };
}
