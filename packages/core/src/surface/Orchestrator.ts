import { randomUUID } from 'node:crypto';
import {
  type Brief,
  type CheckedInputs,
  parseBrief,
  parseProvidedInputs,
  providedParts,
  type QuickWork,
  quickWork,
  runIdOf,
} from '../brief/brief.ts';
import { validLimits } from '../config/limits.ts';
import { orchestratorConfigOf } from '../config/orchestratorConfig.ts';
import { type PriceTable, pricesOf } from '../config/prices.ts';
import type { Backup } from '../db/backup.ts';
import { lawOf } from '../engine/execution/lawOf.ts';
import type { ClosedGate, Gate } from '../engine/gates/Gate.ts';
import type { CompactOptions, CompactResult } from '../engine/runs/compactFile.ts';
import type { GateFilter, GatePage, QueueOptions, RunDriver } from '../engine/runs/Runs.ts';
import { DevsError } from '../errors/DevsError.ts';
import { EventBus } from '../events/events.ts';
import type { PipelinePorts, ReviewScope, StageAgents, Workspace } from '../orchestration/ports.ts';
import type { DoctorReport } from '../state/doctor/doctor.ts';
import type { Policies, Thread } from '../state/threads/threadRecords.ts';
import { hashOf, sha256Hex } from '../values/canonicalJson.ts';
import { assertCountable } from './assertCountable.ts';
import { tellGates } from './gatesOfRun.ts';
import { homeOf } from './home/homeOf.ts';
import {
  methodOptionsOf,
  type OrchestratorOptions,
  openOptionsOf,
  type StartOptions,
  startOptionsOf,
} from './orchestratorOptions.ts';
import { graphWork } from './PipelineApp.ts';
import {
  type Collected,
  OnePipelineFile,
  type PipelineHome,
  type Removal,
  type RemovedRun,
  type RunListPage,
  type StateNews,
} from './PipelineFiles.ts';
import { Run } from './Run.ts';
import { agentsIdentityOf, type PipelineRunInfo } from './views.ts';

export type { Collected, OrchestratorOptions, RunListPage, StartOptions, StateNews };

/** Run ids name folders and git branches. */
const RUN_ID = /^[a-z0-9](?:[a-z0-9-]{0,62}[a-z0-9])?$/;

/**
 * Runs the pipeline: starts and resumes runs, shows their gates and records decisions. Several processes can open the
 * same folder; each run is executed by one process at a time.
 *
 * @example
 * ```ts
 * const devs = await Orchestrator.open({ dir: '.devs', agents, workspace, checks });
 * const run = await devs.start({ id: 'csv-export', brief });
 * const { gates } = await run.resume();
 * for (const gate of gates) await run.decide(gate, { approved: true, by: { kind: 'human', id: 'ada' } });
 * await run.resume();
 * devs.close();
 * ```
 */
export class Orchestrator {
  /** Events, and masked activity of agents, checks and setup (`onActivity`), while this process executes runs. */
  readonly events: EventBus;
  readonly #home: PipelineHome;
  readonly #pipeline: PipelinePorts | null;
  readonly #now: () => number;
  readonly #hush: () => void;
  readonly #budget: OrchestratorOptions['budget'];
  readonly #prices: PriceTable;

  private constructor(options: OrchestratorOptions) {
    const { events = new EventBus(), newId = randomUUID, secrets = {}, onGate } = options;
    const now = options.now ?? options.runs?.now ?? Date.now;
    validLimits(options.limits);
    this.#budget = options.budget;
    this.#prices = pricesOf(options.prices);
    this.events = events;
    this.#now = now;
    this.#pipeline = pipelineOf(options, now);
    const surroundings = { pipeline: this.#pipeline, code: options.code ?? options.workspace ?? null };
    const config = orchestratorConfigOf(options.config);
    const about = {
      ...{ events, config, secrets, now, newId },
      ...declaredIn(options),
    };
    const { busyTimeoutMs = config.busyTimeoutMs, encryptionKey = config.encryptionKey } = options;
    this.#home = homeOf({ ...options, busyTimeoutMs, encryptionKey }, about, surroundings);
    this.#hush =
      onGate === undefined ? () => {} : tellGates(events, (threadId) => this.#home.gatesOf(threadId), onGate);
  }

  /**
   * Opens a folder with its state file.
   *
   * @throws TypeError for agents without workspace or checks; RangeError for a secret that is too short, or an option
   *   or limit outside its range.
   * @throws DevsError `CONFIG_INVALID` for a bad `DEVS_MAX_RECURSION_DEPTH`, a viewer of an older file, or an invalid
   *   key or missing driver; `STATE_…`, `SCHEMA_TOO_NEW`, `MIGRATION_…` if the state file cannot be used.
   */
  static async open(options: OrchestratorOptions): Promise<Orchestrator> {
    const devs = new Orchestrator(openOptionsOf(options));
    // Who brings agents is going to drive.
    if (devs.#pipeline !== null) await devs.#home.warm();
    return devs;
  }

  /**
   * Records a run of a brief, or returns the run with this id. Executes nothing.
   *
   * @throws TypeError for an empty brief, unusable documents or labels, or small work with more than a brief.
   * @throws RangeError for an id that cannot name a folder.
   * @throws DevsError `THREAD_EXISTS` if the id belongs to a run of another brief, other documents or another plan;
   *   `DAG_INVALID` for a plan that cannot become tasks; `WORKSPACE_FAILED` for an unusable repository;
   *   `CONFIG_INVALID` for a budget that an agent does not report.
   */
  async start(asked: StartOptions): Promise<Run> {
    const brief = parseBrief(startOptionsOf(asked).brief);
    const options = asked.quick === undefined ? asked : asQuick(asked, brief, asked.quick);
    const given = parseProvidedInputs(options);
    const runId = options.id ?? runIdOf(brief);
    assertRunId(runId);
    const known = await this.#home.find(runId);
    const started = { ...options, brief: asked.brief };
    assertSameStart(known, brief, given, started);
    if (known === null) await this.#assertStartable(options);
    const { initialState } = await graphWork();
    const admission = {
      threadId: runId,
      projectId: runId,
      workspace: this.#workspaceOf(runId),
      briefSha256: brief.sha256,
      redacted: brief.redacted + given.redacted,
      budget: options.budget,
      labels: labelsIn(options),
      policies: {
        ...declared(options, this.#pipeline?.agents),
        title: brief.title,
        ...(given.sha256 !== null && { given: given.sha256 }),
        ...(given.research === false && { research: false }),
      },
      input: initialState(runId, brief, new Date(this.#now()).toISOString(), {
        ...given,
        review: reviewScope(options),
        ...(options.docsInBranch && { documentsDir: `docs/devs/${runId}` }),
      }),
    };
    await this.#home.admit(admission, queueOptions(options));
    if (known === null) assertSameStart(await this.#home.find(runId), brief, given, started);
    return new Run(runId, this.#home);
  }

  async #assertStartable({ budget = this.#budget }: StartOptions): Promise<void> {
    assertCountable(budget, this.#pipeline?.agents.reports, this.#prices);
    await this.#pipeline?.workspace.assertUsable?.();
  }

  #workspaceOf(runId: string): string | null {
    const folder = this.#pipeline?.workspace.dirOf(runId) ?? null;
    return folder === null ? null : this.#home.folderName(folder);
  }

  /** Returns a recorded run. @throws DevsError `THREAD_NOT_FOUND` */
  async run(id: string): Promise<Run> {
    await this.#home.require(id);
    return new Run(id, this.#home);
  }

  /**
   * Reads a run at one moment; in a cluster, from one copy of its file. To decide and resume, use {@link
   * Orchestrator.run}.
   *
   * @throws DevsError `THREAD_NOT_FOUND`; errors of `read`.
   *
   * @example
   * ```ts
   * const [status, log] = await devs.view('csv-export', async (run) => [await run.status(), await run.log()]);
   * ```
   */
  async view<T>(id: string, read: (run: Run) => Promise<T>): Promise<T> {
    return this.#home.read(id, (file) => {
      file.app.store.threads.require(id);
      return read(new Run(id, new OnePipelineFile(file)));
    });
  }

  /**
   * Lists the runs in the folder, newest first: all, or a page. Reads each run's state; use {@link Orchestrator.gates}
   * for gates alone. In a cluster, opens only files of runs in use or with undelivered signals.
   *
   * @throws RangeError for a bad limit or an unknown status.
   * @throws DevsError `THREAD_NOT_FOUND` if `after`, or one of `ids`, is not a run.
   *
   * @example
   * ```ts
   * const failed = await devs.list({ status: 'failed', limit: 20 });
   * ```
   */
  async list(page: RunListPage = {}): Promise<readonly PipelineRunInfo[]> {
    const { ids } = methodOptionsOf('list', page);
    return this.#home.statuses(ids ?? (await this.#home.ids(page)));
  }

  /** Returns the ids of the runs in the folder, newest first. */
  async ids(): Promise<readonly string[]> {
    return this.#home.ids({});
  }

  /** Returns the open gates of all runs: newest run first, then oldest gate first. Does not read runs without gates. */
  async gates(): Promise<readonly Gate[]> {
    return this.#home.gates();
  }

  /** Returns a page of open gates, oldest first, and the total of all runs. @throws RangeError, TypeError for a bad filter. */
  async openGates(page: GateFilter = {}): Promise<GatePage & { readonly total: number }> {
    return this.#home.openGates(methodOptionsOf('openGates', page));
  }

  /**
   * Returns the gates of all runs whose ids start with this text, open or closed, in the order of {@link
   * Orchestrator.gates}. Only a closed one has a `status`.
   */
  async gatesNamed(beginning: string): Promise<readonly (Gate | ClosedGate)[]> {
    if (typeof beginning !== 'string') throw new TypeError(`Expected the start of an id, got ${beginning}.`);
    return this.#home.gatesNamed(beginning);
  }

  /**
   * Deletes a run: its rows, the texts of its decisions, and with `workspace` its folder, its store and its merged
   * branch. Lines of the decision log stay. In a cluster, the run is deleted with its file, log included; its folders
   * and branch stay.
   *
   * @throws DevsError `REMOVE_REFUSED` without `force`, for a run that has not ended or work that exists only here;
   *   `THREAD_BUSY`, `THREAD_NOT_FOUND`, `AGENT_MAY_NOT_DECIDE`, `POLICY_NOT_DECLARED`. The run is unchanged then.
   *
   * @example
   * ```ts
   * await devs.remove('csv-export', { by: { kind: 'human', id: 'ada' }, workspace });
   * ```
   */
  async remove(id: string, removal: Removal): Promise<RemovedRun> {
    return this.#home.remove(id, methodOptionsOf('remove', removal));
  }

  /** Deletes unused data: values in the state file and, with a workspace, folders and stores without a run. */
  async collect(options: { readonly workspace?: Workspace } = {}): Promise<Collected> {
    const { workspace } = methodOptionsOf('collect', options);
    return this.#home.collect(workspace);
  }

  /** Makes the state file smaller, and overwrites bytes that an earlier release deleted; see `compact` of an app. */
  async compact(options: CompactOptions = {}): Promise<CompactResult> {
    return this.#home.compact(methodOptionsOf('compact', options));
  }

  /**
   * Returns a watcher for viewers of other processes' work. `next(ms, signal)` resolves when something may have changed
   * since the last call, or after `ms`. Create it before the first read to miss no change; stop it at the end.
   *
   * @param about - `threadId`: watch one run; in a cluster this is faster.
   * @throws DevsError `STATE_REPLACED` if the file was deleted, replaced or truncated.
   */
  async news(options: { readonly threadId?: string } = {}): Promise<StateNews> {
    const { threadId } = methodOptionsOf('news', options);
    return this.#home.news(threadId);
  }

  /**
   * Returns a number that changes after another connection of any process commits. Cheap, for viewers that poll.
   *
   * @throws DevsError `STATE_REPLACED` if the file was deleted, replaced or truncated.
   */
  async dataVersion(): Promise<number> {
    return this.#home.dataVersion();
  }

  /** Examines the whole state file, the chain of decisions included; see {@link doctor}. Changes nothing. */
  async verify(): Promise<DoctorReport> {
    return this.#home.verify();
  }

  /** Copies the state file, also while runs execute; see {@link backup}. */
  async backup(target: string): Promise<Backup> {
    return this.#home.backup(target);
  }

  /**
   * Returns the object with which a worker executes the pipeline's runs of a cluster.
   *
   * @throws DevsError `CONFIG_INVALID` for runs in a local state file.
   */
  async driver(): Promise<RunDriver> {
    return this.#home.driver();
  }

  /** Closes the state file. Stop all runs first. */
  close(): void {
    this.#hush();
    this.#home.close();
  }
}

/** What the pipeline is given as it was given here. */
const declaredIn = ({ budget, limits, prices }: OrchestratorOptions) => ({
  ...(budget && { budget }),
  ...(limits && { limits }),
  ...(prices !== undefined && { prices }),
});

/** @throws TypeError for what small work does not take. */
function asQuick(options: StartOptions, brief: Brief, quick: QuickWork): StartOptions {
  const { documents, tasks, gates = {}, review = 'task' } = options;
  const { design, dag, review: reviewed = 'human' } = gates;
  const taken = Object.entries({ documents, tasks, 'gates.design': design, 'gates.dag': dag });
  const named = taken.find(([, value]) => value !== undefined)?.[0];
  if (named !== undefined) throw new TypeError(`quick cannot be combined with ${named}.`);
  const policies = { design: 'quick', dag: 'quick', review: reviewed } as const;
  return { ...options, ...quickWork(brief, quick), review, gates: policies };
}

function pipelineOf(
  { agents, workspace, checks, agentChecks = 3 }: OrchestratorOptions,
  now: () => number,
): PipelinePorts | null {
  if (agents === undefined) return null;
  if (workspace === undefined || checks === undefined) {
    throw new TypeError('`agents` needs `workspace` and `checks`.');
  }
  if (!Number.isSafeInteger(agentChecks) || agentChecks < 0) {
    throw new RangeError(`agentChecks must be 0 or a positive integer, got ${agentChecks}.`);
  }
  return { agents, workspace, checks, agentChecks, now };
}

/** @throws RangeError for a word that is none of the scopes. */
function reviewScope({ review = 'none' }: StartOptions): ReviewScope | undefined {
  if (review === 'none') return undefined;
  if (review === 'task' || review === 'epic') return review;
  throw new RangeError(`review must be none, epic or task, got ${JSON.stringify(review)}.`);
}

function assertRunId(id: string): void {
  if (RUN_ID.test(id)) return;
  throw new RangeError(
    `A run id has at most 64 characters a-z, 0-9 and inner hyphens, got ${JSON.stringify(id)}.`,
  );
}

/** What is declared with the start and holds for the whole run. */
function declared({ gates = {}, agentsRef }: StartOptions, agents: StageAgents | undefined): Policies {
  return {
    gates: { design: 'human', dag: 'human', ...gates },
    agents: agents === undefined ? null : agentsIdentityOf(agents),
    ...(agentsRef !== undefined && { agentsRef }),
  };
}

const labelsIn = ({ metadata, tags }: StartOptions): Pick<StartOptions, 'metadata' | 'tags'> => ({
  ...(metadata !== undefined && { metadata }),
  ...(tags !== undefined && { tags }),
});

const queueOptions = ({ tenant, priority }: QueueOptions): QueueOptions => ({
  ...(tenant !== undefined && { tenant }),
  ...(priority !== undefined && { priority }),
});

/**
 * Nothing given means: as the run was started.
 *
 * @param asked - As it was given: a run of an earlier release knows it by what it masked of it.
 */
function assertSameStart(
  known: Thread | null,
  brief: Brief,
  { sha256 }: CheckedInputs,
  asked: Pick<StartOptions, 'brief' | 'documents' | 'tasks'>,
): void {
  if (known === null) return;
  const { threadId, briefSha256, policies } = known;
  const law = lawOf(known);
  const isSameBrief = briefSha256 === brief.sha256 || briefSha256 === sha256Hex(law.keep(asked.brief).value);
  if (!isSameBrief) throw startedWithOther(threadId, 'a different brief');
  const { given } = policies;
  const isSame =
    sha256 === null || sha256 === given || hashOf(law.keep(providedParts(asked)).value) === given;
  if (!isSame) throw startedWithOther(threadId, 'different documents or a different plan');
}

const startedWithOther = (id: string, what: string): DevsError =>
  new DevsError(`Run "${id}" was started with ${what}.`, {
    code: 'THREAD_EXISTS',
    remedy: 'Start a new run with another id, or resume the existing run with its original input.',
    context: { threadId: id },
  });
