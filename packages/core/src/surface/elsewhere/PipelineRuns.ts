import { internalsOf } from '../../engine/appInternals.ts';
import { isOver } from '../../engine/drive/outcome.ts';
import type { EngineStore } from '../../engine/EngineStore.ts';
import { isEdit } from '../../engine/gates/answers.ts';
import { type Gate, type GateAnswer, readOnce } from '../../engine/gates/Gate.ts';
import { graphFingerprint } from '../../engine/graph/graphShape.ts';
import { decisionSignal } from '../../engine/remote/decisionSignal.ts';
import { LeasedApp } from '../../engine/remote/LeasedApp.ts';
import { newRunFile } from '../../engine/remote/newRunFile.ts';
import { RunAccess } from '../../engine/remote/RunAccess.ts';
import { releaseOf } from '../../engine/remote/runIndex.ts';
import type {
  LeasedRun,
  QueueOptions,
  RunDriver,
  RunQueue,
  RunRelease,
  Runs,
} from '../../engine/runs/Runs.ts';
import type { NewRunRecord } from '../../engine/start/RunStarts.ts';
import { scrub } from '../../masking/scrub.ts';
import { type OrchestrationPlan, orchestrationPlan } from '../../orchestration/orchestrationApp.ts';
import type { OpenOptions, PipelinePorts, RunWorkspace, Workspace } from '../../orchestration/ports.ts';
import { gitRecord } from '../../state/GitPackStore.ts';
import type { HitlSession } from '../../state/gates/hitlSession.ts';
import { type DriveRunOptions, driveRun, type PipelineDriveHooks } from '../driveRun.ts';
import { PipelineApp, type PipelineAppOptions } from '../PipelineApp.ts';
import { Run, type RunDeps } from '../Run.ts';
import { assertRemovable, type Removal, type RemovedRun, removeRun } from '../removeRun.ts';
import type { PipelineResult } from '../views.ts';
import { listedStatus } from './listedStatus.ts';

/** What the pipeline's runs are called among those of other graphs. */
const GRAPH = 'pipeline';

const accessTo = (plan: OrchestrationPlan, runs: Runs) => new RunAccess(plan, runs);

const heldApp = (held: LeasedRun, plan: OrchestrationPlan) => new LeasedApp(held, plan);

/** The pipeline over the file of a run. */
type OpenedPipeline = Pick<ReturnType<OrchestrationPlan['open']>, 'app' | 'parts'>;

/**
 * The pipeline's runs where each has a file of its own that is not here: looked at as copies, told things, and held to be
 * driven or changed. Each time an ordinary handle on the run is made over the file.
 */
export class PipelineRuns implements RunDriver {
  readonly queue: RunQueue;
  readonly #plan: OrchestrationPlan;
  readonly #runs: Runs;
  readonly #deps: RunDeps;
  readonly #access: ReturnType<typeof accessTo>;

  constructor(plan: OrchestrationPlan, runs: Runs, deps: RunDeps) {
    this.queue = { graph: GRAPH, fingerprint: graphFingerprint(plan.outline().shape) };
    this.#plan = plan;
    this.#runs = runs;
    this.#deps = deps;
    this.#access = accessTo(plan, runs);
  }

  /** Records a run and has it driven; one that is known stays as it is. */
  async admit(admission: NewRunRecord, place: QueueOptions): Promise<void> {
    const db = newRunFile();
    try {
      const opened = this.#plan.open({ db });
      await internalsOf(opened.app).recordRun(admission);
      const { threadId: id } = admission;
      const index = await this.#standing(id, opened);
      await this.#runs.create({ ...place, id, queue: this.queue, index, file: db.serialize() });
    } finally {
      db.close();
    }
  }

  /** @throws DevsError `THREAD_NOT_FOUND` */
  record<T>(id: string, use: (store: EngineStore) => T): Promise<T> {
    return this.#access.lookAtRecord(id, use);
  }

  look<T>(id: string, use: (run: Run) => Promise<T>): Promise<T> {
    return this.#access.look(id, (opened) => use(this.#runOver(id, opened)));
  }

  /**
   * Holds a run while it is changed.
   *
   * @param goesOn - It is driven then, whatever it stands at.
   */
  change<T>(id: string, use: (run: Run) => Promise<T>, goesOn: boolean): Promise<T> {
    return this.#access.change(
      id,
      (opened) => use(this.#runOver(id, opened)),
      async (opened) => {
        const standing = await this.#standing(id, opened);
        return goesOn && !isOver(standing.status) ? { ...standing, until: this.#plan.now() } : standing;
      },
    );
  }

  /** Drives a run in this process, if no worker is faster. */
  driveHere(id: string, { abort, ...options }: DriveRunOptions): Promise<PipelineResult> {
    return this.#access.drive(
      id,
      (held) => held.drive((told) => this.#driveOver(id, held, options, told), abort),
      (opened) => this.#standing(id, opened),
    );
  }

  async drive(
    held: LeasedRun,
    { signal, abort }: { readonly signal: AbortSignal; readonly abort: AbortSignal },
  ): Promise<RunRelease> {
    const opened = heldApp(held, this.#plan);
    await opened.drive((told) => this.#driveOver(held.id, opened, { signal }, told), abort);
    return this.#standing(held.id, opened);
  }

  decide(
    id: string,
    gate: Pick<Gate, 'sessionId' | 'artifactHash'>,
    given: GateAnswer,
  ): Promise<HitlSession> {
    const answer = readOnce(given);
    return this.#access.tell(id, async (opened) => {
      const before = internalsOf(opened.app).store.sessions.require(gate.sessionId);
      const left = await this.#runOver(id, opened).decide(gate, answer);
      return { left, signal: decisionSignal(before, left, scrubbedAnswer(answer)) };
    });
  }

  request(id: string, kind: 'pause' | 'cancel'): Promise<void> {
    return this.#access.tell(id, async ({ app }) => ({
      left: await app[kind](id),
      signal: { id: this.#plan.newId(), kind },
    }));
  }

  /** Deletes a run with its file: folders and branches are where they are. */
  async remove(id: string, removal: Removal): Promise<RemovedRun> {
    const { workspace: _, ...asked } = removal;
    const assert = ({ parts }: OpenedPipeline): void => void assertRemovable(id, asked, parts.store);
    // Before it is held: who drives it need not be waited for where it is refused.
    await this.#access.look(id, async (opened) => assert(opened));
    const here = async ({ app }: OpenedPipeline): Promise<number> => (await removeRun(id, asked, app)).bytes;
    const bytes = await this.#access.remove(id, { assert, here }, (opened) => this.#standing(id, opened));
    return { id, branch: null, bytes };
  }

  #driveOver(
    id: string,
    opened: OpenedPipeline,
    options: Omit<DriveRunOptions, 'abort'>,
    told: PipelineDriveHooks,
  ): Promise<PipelineResult> {
    const pipeline = this.#pipelineOver(opened);
    return driveRun(id, options, { app: PipelineApp.over(opened.app), pipeline }, told);
  }

  #runOver(id: string, opened: OpenedPipeline): Run {
    const deps = { ...this.#deps, pipeline: this.#pipelineOver(opened) };
    return new Run(id, PipelineApp.over(opened.app), deps);
  }

  #pipelineOver({ app }: OpenedPipeline): PipelinePorts | null {
    const { pipeline } = this.#deps;
    return pipeline && { ...pipeline, workspace: travelling(pipeline.workspace, internalsOf(app).store) };
  }

  /** A run of this shape is driven by this release from then on. */
  async #standing(id: string, opened: OpenedPipeline): Promise<RunRelease> {
    const { store } = opened.parts;
    const isOurs = store.threads.require(id).graphFingerprint === this.queue.fingerprint;
    const status = await this.#runOver(id, opened).status();
    const listed = { title: status.title, view: listedStatus(status) };
    return { ...releaseOf(id, store), ...listed, ...(isOurs && { queue: this.queue }) };
  }
}

/** @param about - Options of the pipeline, but for a file. */
export const pipelineRuns = (
  runs: Runs,
  about: Omit<PipelineAppOptions, 'db'>,
  deps: RunDeps,
): PipelineRuns =>
  new PipelineRuns(
    orchestrationPlan(deps.pipeline && { ...deps.pipeline, travels: true }, about, GRAPH),
    runs,
    deps,
  );

/**
 * An answer whose words are without secrets while it is on its way. An edit stays as it is: what stands for hidden places in it is
 * told apart from masks where it is recorded, and scrubbed there.
 */
function scrubbedAnswer(given: GateAnswer) {
  if (isEdit(given)) return { answer: given, redacted: 0 };
  const { by, ...said } = given;
  const { value, count: redacted } = scrub(said);
  return { answer: { ...value, by }, redacted };
}

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
