import { randomUUID } from 'node:crypto';
import { type Brief, parseBrief, runIdOf } from '../brief/brief.ts';
import { type CheckedGiven, type Given, givenParts, parseGiven } from '../brief/given.ts';
import { type QuickWork, quickWork } from '../brief/quickWork.ts';
import { type Limits, validLimits } from '../config/limits.ts';
import { type OrchestratorConfig, orchestratorConfigOf } from '../config/orchestratorConfig.ts';
import type { PriceTable } from '../config/prices.ts';
import type { Backup } from '../db/backup.ts';
import type { EncryptionKey } from '../db/encryptionKey.ts';
import type { GatePolicies } from '../engine/drive/decideByPolicy.ts';
import type { ClosedGate, Gate } from '../engine/Gate.ts';
import type { Budget } from '../engine/guards/Budget.ts';
import { lawOf } from '../engine/lawOf.ts';
import type { GatePage } from '../engine/runs/inbox.ts';
import type { PageRequest } from '../engine/runs/pages.ts';
import type { RunDriver, RunPlace, Runs } from '../engine/runs/Runs.ts';
import { DevsError } from '../errors/DevsError.ts';
import type { ActivityListener } from '../events/Activity.ts';
import { EventBus } from '../events/EventBus.ts';
import type { SecretsOptions } from '../masking/registerSecrets.ts';
import type { ReviewScope } from '../orchestration/CodeReview.ts';
import type { Checks, CodeOfRuns, StageAgents, Workspace } from '../orchestration/ports.ts';
import type { PipelineDeps } from '../orchestration/task/pipelineDeps.ts';
import { hashOf, sha256Hex } from '../state/canonicalJson.ts';
import type { DoctorReport } from '../state/doctor.ts';
import type { Policies, Thread } from '../state/ThreadStore.ts';
import { identityOf } from './agentsIdentity.ts';
import { homeOf } from './home/homeOf.ts';
import type { Collected, PipelineHome, RunListPage, StateNews } from './home/PipelineHome.ts';
import { graphWork } from './PipelineApp.ts';
import type { Run } from './Run.ts';
import type { Removal, RemovedRun } from './removeRun.ts';
import { type OnGate, tellGates } from './tellGates.ts';
import type { RunStatus } from './views.ts';

export type { Collected, RunListPage, StateNews };

/** Run ids name folders and git branches. */
const RUN_ID = /^[a-z0-9](?:[a-z0-9-]{0,62}[a-z0-9])?$/;

export interface OrchestratorOptions {
  /** The engine's folder; its state file is created when missing. Give this or `runs`. */
  readonly dir?: string;
  /**
   * Where each run has a file of its own, such as a cluster, instead of a folder: whoever opens it there drives the same
   * runs. It stays open when the orchestrator is closed.
   */
  readonly runs?: Runs;
  /** Name of the state file in it, such as that of a graph of one's own. @defaultValue `state.sqlite` */
  readonly file?: string;
  /**
   * How long a write waits while other processes write the file, milliseconds, at least 5,000.
   * @defaultValue that of the configuration, `DEVS_BUSY_TIMEOUT_MS`
   */
  readonly busyTimeoutMs?: number;
  /**
   * Of the state file, which is encrypted with it when it is made; see `rekey`. Not with `runs`, which have a `codec`.
   * @defaultValue that of the configuration, `DEVS_ENCRYPTION_KEY`; without one the file is not encrypted
   */
  readonly encryptionKey?: EncryptionKey | undefined;
  /** For viewers: nothing is created, migrated or written, and driving or deciding fails. @defaultValue false */
  readonly readOnly?: boolean;
  /** Without agents the whole topology runs and nothing is written. With them, `workspace` and `checks` are needed. */
  readonly agents?: StageAgents;
  readonly workspace?: Workspace;
  /** Reads the code that comments on a review quote. @defaultValue the workspace */
  readonly code?: CodeOfRuns;
  readonly checks?: Checks;
  /**
   * How often an agent may run the checks within one call that writes, documents or reviews a task's work; with 0 not at
   * all. @defaultValue 3
   */
  readonly agentChecks?: number;
  /** What is known to be secret, masked wherever it appears. @defaultValue the environment's secrets */
  readonly secrets?: SecretsOptions;
  /** What a run may use up before a human is asked. Part of its record when it is started. @defaultValue no limit */
  readonly budget?: Budget;
  /** How large may be what is recorded: plans, results, answers, … @defaultValue `DEFAULT_LIMITS` */
  readonly limits?: Partial<Limits>;
  /** What tokens cost, or a JSON file that says so; see `loadPrices`. @defaultValue some list prices */
  readonly prices?: PriceTable | string;
  readonly events?: EventBus;
  /** Told of each gate that a human has to decide, once per process. It may decide; if it fails, that is a warning. */
  readonly onGate?: OnGate;
  /** Read from the environment (`DEVS_…`) when left out. */
  readonly config?: OrchestratorConfig;
  /** Milliseconds since the Unix epoch. */
  readonly now?: () => number;
  readonly newId?: () => string;
}

export interface StartOptions extends Given, RunPlace {
  /** Markdown. */
  readonly brief: string;
  /** `[a-z0-9-]`, at most 64. Made from the brief when left out: the same brief is the same run. */
  readonly id?: string;
  /** After what a human is shown the code. Part of the run's record. @defaultValue 'none' */
  readonly review?: ReviewScope | 'none';
  /** Which gates a declared policy approves. Part of the run's record. @defaultValue a human, for all */
  readonly gates?: GatePolicies;
  /**
   * Small work: one task, and one gate, the review of its code. Design and plan are filled in without a call and decided
   * by the policy `quick`, which is part of the record. Takes no documents, plan, gates or review.
   */
  readonly quick?: QuickWork;
  /**
   * Whether the run's documents and plan are files of its branch, in `docs/devs/ID/`: part of the commit of its first task
   * and judged by its checks. Part of the run's record. @defaultValue false
   */
  readonly docsInBranch?: boolean;
  /** @defaultValue that of the orchestrator */
  readonly budget?: Budget;
  /** How a later process can find the agents again; kept with the run, not read here. */
  readonly agentsRef?: string;
}

/**
 * The one way to run the pipeline: starts runs, drives them, shows their gates and records decisions. Several
 * processes may open the same folder; each run has one driver at a time.
 *
 * @example
 * ```ts
 * const devs = await Orchestrator.open({ dir: '.devs', agents, workspace, checks });
 * const run = await devs.start({ id: 'csv-export', brief });
 * const { gates } = await run.drive();
 * for (const gate of gates) await run.decide(gate, { approved: true, by: { kind: 'human', id: 'ada' } });
 * await run.drive();
 * devs.close();
 * ```
 */
export class Orchestrator {
  readonly events: EventBus;
  readonly #home: PipelineHome;
  readonly #pipeline: PipelineDeps | null;
  readonly #now: () => number;
  readonly #hush: () => void;

  private constructor(options: OrchestratorOptions) {
    const { events = new EventBus(), now = Date.now, newId = randomUUID, secrets = {}, onGate } = options;
    validLimits(options.limits);
    this.events = events;
    this.#now = now;
    this.#pipeline = pipelineOf(options, now);
    const deps = { pipeline: this.#pipeline, code: options.code ?? options.workspace ?? null };
    const config = orchestratorConfigOf(options.config);
    const about = {
      ...{ events, config, secrets, now, newId },
      ...declaredIn(options),
    };
    const { busyTimeoutMs = config.busyTimeoutMs, encryptionKey = config.encryptionKey } = options;
    this.#home = homeOf({ ...options, busyTimeoutMs, encryptionKey }, about, deps);
    this.#hush =
      onGate === undefined ? () => {} : tellGates(events, (threadId) => this.#home.gatesOf(threadId), onGate);
  }

  /**
   * Opens the engine's folder.
   *
   * @throws TypeError for agents without workspace or checks, RangeError for a secret that is too short, an option of `config` out of its range, or a limit that can be none.
   * @throws DevsError `CONFIG_INVALID` for a bad `DEVS_MAX_RECURSION_DEPTH`, or a viewer of a file of an earlier release; a key that is none, or whose driver is not installed; `STATE_…`, `SCHEMA_TOO_NEW`, `MIGRATION_…` when the state file cannot be used.
   */
  static async open(options: OrchestratorOptions): Promise<Orchestrator> {
    const devs = new Orchestrator(options);
    // Who brings agents is going to drive.
    if (devs.#pipeline !== null) await devs.#home.warm();
    return devs;
  }

  /**
   * Records a run of a brief, or returns the one with this id as it is. Nothing is executed until it is driven.
   *
   * @throws TypeError for an empty brief, unusable documents, or small work with more than a brief; RangeError for an id
   *   that cannot name a folder.
   * @throws DevsError `THREAD_EXISTS` if the id belongs to a run of another brief, other documents or another plan;
   *   `DAG_INVALID` for a plan that cannot become tasks; `WORKSPACE_FAILED` for a repository no run can work in.
   */
  async start(asked: StartOptions): Promise<Run> {
    const brief = parseBrief(asked.brief);
    const options = asked.quick === undefined ? asked : asQuick(asked, brief, asked.quick);
    const given = parseGiven(options);
    const runId = options.id ?? runIdOf(brief);
    assertRunId(runId);
    const known = await this.#home.find(runId);
    const started = { ...options, brief: asked.brief };
    assertSameStart(known, brief, given, started);
    if (known === null) await this.#pipeline?.workspace.assertUsable?.();
    const { initialState } = await graphWork();
    const admission = {
      threadId: runId,
      projectId: runId,
      workspace: this.#workspaceOf(runId),
      briefSha256: brief.sha256,
      redacted: brief.redacted + given.redacted,
      budget: options.budget,
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
    await this.#home.admit(admission, placeOf(options));
    if (known === null) assertSameStart(await this.#home.find(runId), brief, given, started);
    return this.#home.handle(runId);
  }

  #workspaceOf(runId: string): string | null {
    const folder = this.#pipeline?.workspace.dirOf(runId) ?? null;
    return folder === null ? null : this.#home.folderName(folder);
  }

  /** @throws DevsError `THREAD_NOT_FOUND` */
  async run(id: string): Promise<Run> {
    await this.#home.require(id);
    return this.#home.handle(id);
  }

  /**
   * Reads a run as it is at one moment: what is read of one that is elsewhere is read from one copy of its file. Decide and
   * drive with {@link Orchestrator.run}.
   *
   * @throws DevsError `THREAD_NOT_FOUND`; what `read` throws.
   *
   * @example
   * ```ts
   * const [status, log] = await devs.view('csv-export', async (run) => [await run.status(), await run.log()]);
   * ```
   */
  async view<T>(id: string, read: (run: Run) => Promise<T>): Promise<T> {
    return this.#home.view(id, read);
  }

  /**
   * The runs in the folder, newest first: all of them, or a page. Each is read with its state; for its gates alone there is
   * {@link Orchestrator.gates}. Of runs that are elsewhere only the files of those are opened that somebody drives or has told
   * something.
   *
   * @throws RangeError for a bad limit, or a status that is none.
   * @throws DevsError `THREAD_NOT_FOUND` for an `after` that is no run.
   *
   * @example
   * ```ts
   * const failed = await devs.list({ status: 'failed', limit: 20 });
   * ```
   */
  async list(page: RunListPage = {}): Promise<readonly RunStatus[]> {
    return this.#home.statuses(await this.#home.ids(page));
  }

  /** What {@link Orchestrator.list} says of these runs, in their order. @throws DevsError `THREAD_NOT_FOUND` */
  async statuses(ids: readonly string[]): Promise<readonly RunStatus[]> {
    return this.#home.statuses(ids);
  }

  /** Ids of the runs in the folder, newest first. */
  async ids(): Promise<readonly string[]> {
    return this.#home.ids({});
  }

  /** The open questions of all runs: of the newest run first, and of each the oldest first. Runs that ask nothing are not read. */
  async gates(): Promise<readonly Gate[]> {
    return this.#home.gates();
  }

  /** The same of many runs, a page at a time: oldest first, and how many there are. @throws RangeError for a bad page. */
  async openGates(page: PageRequest = {}): Promise<GatePage & { readonly total: number }> {
    return this.#home.openGates(page);
  }

  /**
   * The questions of all runs whose ids begin so, open or closed, in the order of {@link Orchestrator.gates}. Only a closed one
   * has a `status`.
   */
  async gatesNamed(beginning: string): Promise<readonly (Gate | ClosedGate)[]> {
    if (typeof beginning !== 'string') throw new TypeError(`Expected the start of an id, got ${beginning}.`);
    return this.#home.gatesNamed(beginning);
  }

  /**
   * Deletes a run: its rows, the texts of its decisions, and with `workspace` its folder, its store and its branch if that
   * is merged. The lines of the decision log stay. A run that is elsewhere is deleted with its file, which has these lines, too;
   * its folders and its branch stay where they are.
   *
   * @throws DevsError `REMOVE_REFUSED` for a run that has not ended, or work that is nowhere else, without `force`;
   *   `THREAD_BUSY`, `THREAD_NOT_FOUND`, `AGENT_MAY_NOT_DECIDE`, `POLICY_NOT_DECLARED`: nothing is deleted then.
   *
   * @example
   * ```ts
   * await devs.remove('csv-export', { by: { kind: 'human', id: 'ada' }, workspace });
   * ```
   */
  async remove(id: string, removal: Removal): Promise<RemovedRun> {
    return this.#home.remove(id, removal);
  }

  /** Deletes what no run needs: values in the state file and, with a workspace, folders and stores without a run. */
  async collect({ workspace }: { readonly workspace?: Workspace } = {}): Promise<Collected> {
    return this.#home.collect(workspace);
  }

  /**
   * Subscribes to what agents, checks and setup tell while this process drives runs, masked as it is shown; what it returns
   * ends that. It is no event and not in the log: {@link Run.transcript} has it afterwards.
   *
   * @example
   * ```ts
   * devs.onActivity((activity, { taskId, step }) => {
   *   if (activity.kind === 'text') process.stdout.write(activity.text);
   * });
   * ```
   */
  onActivity(listener: ActivityListener): () => void {
    return this.events.onActivity(listener);
  }

  /**
   * For who shows what other processes do: `next(ms, signal)` resolves when something may have been written since the last
   * time, and after so many milliseconds at the latest. Asked for before the first look, nothing is missed; stop it when done.
   *
   * @param about - `run`: whoever looks at one run alone is told sooner where runs are elsewhere.
   * @throws DevsError `STATE_REPLACED` if the file was deleted, replaced or truncated.
   */
  async news({ run }: { readonly run?: string } = {}): Promise<StateNews> {
    return this.#home.news(run);
  }

  /**
   * What the state file is at: another number once another connection, of any process, has committed something. For who
   * shows runs and looks again when there is something new; asking is cheap, and holds nothing open.
   *
   * @throws DevsError `STATE_REPLACED` if the file was deleted, replaced or truncated.
   */
  async dataVersion(): Promise<number> {
    return this.#home.dataVersion();
  }

  /** Examines the whole state file, the chain of decisions included, and changes nothing; see {@link doctor}. */
  async verify(): Promise<DoctorReport> {
    return this.#home.verify();
  }

  /** Copies the state file, also while runs are driven; see {@link backup}. */
  async backup(target: string): Promise<Backup> {
    return this.#home.backup(target);
  }

  /**
   * What a worker drives the pipeline's runs with, where `runs` hands them out.
   *
   * @throws DevsError `CONFIG_INVALID` for runs in a local state file.
   */
  async driver(): Promise<RunDriver> {
    return this.#home.driver();
  }

  /** Closes the state file. Drive nothing after it. */
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
  const { documents, tasks, gates, review } = options;
  const taken = Object.entries({ documents, tasks, gates, review }).find(([, value]) => value !== undefined);
  if (taken !== undefined) throw new TypeError(`quick cannot be combined with ${taken[0]}.`);
  const policies = { design: 'quick', dag: 'quick', review: 'human' } as const;
  return { ...options, ...quickWork(brief, quick), review: 'task', gates: policies };
}

function pipelineOf(
  { agents, workspace, checks, agentChecks = 3 }: OrchestratorOptions,
  now: () => number,
): PipelineDeps | null {
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
    agents: agents === undefined ? null : identityOf(agents),
    ...(agentsRef !== undefined && { agentsRef }),
  };
}

const placeOf = ({ tenant, priority }: RunPlace): RunPlace => ({
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
  { sha256 }: CheckedGiven,
  asked: Pick<StartOptions, 'brief' | 'documents' | 'tasks'>,
): void {
  if (known === null) return;
  const { threadId, briefSha256, policies } = known;
  const law = lawOf(known);
  const isSameBrief = briefSha256 === brief.sha256 || briefSha256 === sha256Hex(law.keep(asked.brief).value);
  if (!isSameBrief) throw startedWithOther(threadId, 'a different brief');
  const { given } = policies;
  const isSame = sha256 === null || sha256 === given || hashOf(law.keep(givenParts(asked)).value) === given;
  if (!isSame) throw startedWithOther(threadId, 'different documents or a different plan');
}

const startedWithOther = (id: string, what: string): DevsError =>
  new DevsError(`Run "${id}" was started with ${what}.`, {
    code: 'THREAD_EXISTS',
    remedy: 'Start a new run with another id, or resume the existing run with its original input.',
    context: { id },
  });
