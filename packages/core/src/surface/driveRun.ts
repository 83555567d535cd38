import { StepActivities } from '../engine/activity/StepActivities.ts';
import type { DriveOptions } from '../engine/drive/drive.ts';
import { isOver } from '../engine/drive/outcome.ts';
import { outcomeOf } from '../engine/drive/RunResult.ts';
import { internalsOf } from '../engine/file/appInternals.ts';
import type { RunOptions } from '../engine/file/RunOptions.ts';
import { abandonQuestions } from '../engine/gates/gateQuestions.ts';
import { endingWith } from '../errors/endingWith.ts';
import type { EventBus } from '../events/EventBus.ts';
import { type GoalOptions, pipelineGoal } from '../orchestration/pipelineGoals.ts';
import type { OpenOptions, PipelinePorts, RunWorkspace } from '../orchestration/ports.ts';
import { NullRunStore } from '../state/NullRunStore.ts';
import { assertAgents, tellChangedAgents } from './agentsIdentity.ts';
import type { PipelineApp } from './PipelineApp.ts';
import { finishRewind } from './rewind/finishRewind.ts';
import type { PipelineResult } from './views.ts';

/**
 * The goal of an execution: `until` a gate is approved, `only` one task (`T4`) or one `epic` (`E1`) with its
 * dependencies. Set at most one. It is stored until it is reached; then the run is paused.
 */
export interface DriveRunOptions extends RunOptions, GoalOptions {}

/** How a drive is called that is told what comes in meanwhile. */
export type PipelineDriveHooks = Pick<DriveOptions, 'prepare' | 'abort'>;

/** Drives a run, and gives its branch to the user's repository; see {@link Run.resume}. */
export async function driveRun(
  id: string,
  { until, only, epic, ...options }: DriveRunOptions,
  deps: RunWithDeps,
  { prepare, ...told }: PipelineDriveHooks = {},
): Promise<PipelineResult> {
  const { app, pipeline } = deps;
  const { store } = app;
  const goal = pipelineGoal({ ...(until && { until }), ...(only && { only }), ...(epic && { epic }) });
  assertAgents(id, deps);
  if (pipeline !== null) tellChangedAgents(id, pipeline.agents, store);
  const engine = await app.engine();
  await finishRewindOfEnded(id, deps);
  const result = await whileAgentsAreKept(deps, () =>
    internalsOf(engine).drive(id, {
      ...options,
      ...told,
      ...(goal && { goal }),
      prepare: async (lease) => {
        await prepare?.(lease);
        abandonQuestions(id, store.steps);
        await finishRewind(lease, { app: engine, pipeline });
      },
    }),
  );
  const handed = await handOver(id, app.events, (open) => workspaceInUse(id, deps, open));
  return { ...outcomeOf(result), ...handed, cost: store.steps.costOf(id) };
}

/** What agents keep running between their calls ends with the drive. */
async function whileAgentsAreKept<Result>(
  { pipeline }: RunWithDeps,
  drive: () => Promise<Result>,
): Promise<Result> {
  try {
    return await drive();
  } finally {
    await pipeline?.agents.close?.().catch(() => undefined);
  }
}

/** A run that has ended is not driven, but the files of its last rewind may still have to follow. */
async function finishRewindOfEnded(id: string, { app, pipeline }: RunWithDeps): Promise<void> {
  const { threads, rewinds } = app.store;
  if (!isOver(threads.require(id).status) || rewinds.unfinished(id) === null) return;
  const engine = await app.engine();
  await internalsOf(engine).withLease(id, (lease) => finishRewind(lease, { app: engine, pipeline }));
}

/** A run's handle on its file and on what the pipeline works with; `null` where no agents are given. */
export interface RunWithDeps {
  readonly app: PipelineApp;
  readonly pipeline: PipelinePorts | null;
}

/** The workspace of a run; `null` before the first task: opening a workspace makes it. */
export async function workspaceInUse(
  id: string,
  { app, pipeline }: RunWithDeps,
  options: OpenOptions = {},
): Promise<RunWorkspace | null> {
  if (pipeline === null) return null;
  const values = await app.values(id);
  return (values?.tasks ?? []).length === 0 ? null : pipeline.workspace.open(id, options);
}

/** Gives a run's branch to the user's repository. Outside of any lease, so what it tells is shown and not kept. */
function handOver(
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
