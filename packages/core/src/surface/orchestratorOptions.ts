import type { ProvidedInputs, QuickWork } from '../brief/brief.ts';
import { type OptionNames, withKnownNames } from '../config/knownOptions.ts';
import type { Limits } from '../config/limits.ts';
import type { OrchestratorConfig } from '../config/orchestratorConfig.ts';
import type { PriceTable } from '../config/prices.ts';
import type { EncryptionKey } from '../db/encryptionKey.ts';
import type { GraphAcceptance } from '../engine/change/takeGraph.ts';
import type { GatePolicies } from '../engine/drive/driverGates.ts';
import type { CancelOptions, PauseOptions } from '../engine/drive/stopRequests.ts';
import type { Budget } from '../engine/guards/Budget.ts';
import type { CompactOptions } from '../engine/runs/compactFile.ts';
import type { GateFilter, QueueOptions, Runs } from '../engine/runs/Runs.ts';
import type { CheckpointPage } from '../engine/runs/snapshots.ts';
import type { Retention } from '../engine/saver/ThreadPruner.ts';
import type { EventBus } from '../events/events.ts';
import type { SecretsOptions } from '../masking/SecretRegistry.ts';
import type { Checks, CodeOfRuns, ReviewScope, StageAgents, Workspace } from '../orchestration/ports.ts';
import type { EventPage } from '../state/events/EventStore.ts';
import type { LabelValue } from '../state/labels/RunLabelStore.ts';
import type { AskOptions } from './askGate.ts';
import type { OnGate, PlacesOptions } from './gatesOfRun.ts';
import type { DriveRunOptions, Removal, RunListPage } from './PipelineFiles.ts';
import type { RewindRequest } from './rewind/rewindRun.ts';
import type { TranscriptQuery } from './transcripts.ts';
import type { Adoption, SyncRequest } from './userChanges.ts';

export interface OrchestratorOptions {
  /** Folder of the state file, created if missing. Set this or `runs`. */
  readonly dir?: string;
  /** Storage with one file per run, such as a cluster, instead of a folder. Stays open when the orchestrator is closed. */
  readonly runs?: Runs;
  /** Name of the state file in `dir`, for example that of your own graph. @defaultValue `state.sqlite` */
  readonly file?: string;
  /**
   * Longest wait for a write while other processes write the file, in milliseconds; at least 5,000.
   * @defaultValue that of the configuration, `DEVS_BUSY_TIMEOUT_MS`
   */
  readonly busyTimeoutMs?: number;
  /**
   * Key of the state file; a new file is encrypted with it. See `rekey`. Not with `runs`, which use a `codec`.
   * @defaultValue that of the configuration, `DEVS_ENCRYPTION_KEY`; without one the file is not encrypted
   */
  readonly encryptionKey?: EncryptionKey | undefined;
  /** For viewers: creates, migrates and writes nothing; resuming and deciding fail. @defaultValue false */
  readonly readOnly?: boolean;
  /** Without agents, the run walks through all stages and writes nothing. Agents need `workspace` and `checks`. */
  readonly agents?: StageAgents;
  readonly workspace?: Workspace;
  /** Reads the code that comments on a review quote. @defaultValue the workspace */
  readonly code?: CodeOfRuns;
  readonly checks?: Checks;
  /**
   * How often an agent can run the checks in one call that writes, documents or reviews a task; 0 for never.
   * @defaultValue 3
   */
  readonly agentChecks?: number;
  /** Secrets to mask in output. @defaultValue the environment's secrets */
  readonly secrets?: SecretsOptions;
  /** Use of a run before it asks; stored with each new run. @defaultValue no limit */
  readonly budget?: Budget;
  /** Sizes of stored values: plans, results, answers. @defaultValue see `Limits` */
  readonly limits?: Partial<Limits>;
  /** Model prices, or the path of a JSON file with them. @defaultValue list prices */
  readonly prices?: PriceTable | string;
  readonly events?: EventBus;
  /**
   * Called for each gate that a person must decide, once per process. It can decide the gate; an error in it prints a
   * warning.
   */
  readonly onGate?: OnGate;
  /** Default: read from the environment (`DEVS_…`). */
  readonly config?: OrchestratorConfig;
  /** Clock, in milliseconds since the Unix epoch. @defaultValue the machine's; in a cluster PostgreSQL's */
  readonly now?: () => number;
  readonly newId?: () => string;
}

export interface StartOptions extends ProvidedInputs, QueueOptions {
  /** Markdown. */
  readonly brief: string;
  /** `[a-z0-9-]`, at most 64 characters. Default: from the brief, so the same brief is the same run. */
  readonly id?: string;
  /** When to show committed code to a person. Recorded. @defaultValue 'none' */
  readonly review?: ReviewScope | 'none';
  /** Gates that a declared policy approves. Recorded. @defaultValue people decide all */
  readonly gates?: GatePolicies;
  /**
   * Small work: one task and one gate, the review of its code. Design and plan are filled in without a call and decided
   * by the recorded policy `quick`. `review` and `gates.review` change that one gate. Cannot be combined with documents,
   * a plan, or other gates.
   */
  readonly quick?: QuickWork;
  /**
   * Whether to write documents and plan into `docs/devs/ID/` of the branch: they are part of the first task's commit
   * and of its checks. Recorded. @defaultValue false
   */
  readonly docsInBranch?: boolean;
  /** @defaultValue that of the orchestrator */
  readonly budget?: Budget;
  /** Finds the run in lists: strings, finite numbers, booleans and `null`, by name. Ignored for a run that exists. */
  readonly metadata?: Readonly<Record<string, LabelValue>>;
  /** Finds the run in lists. Ignored for a run that exists. */
  readonly tags?: readonly string[];
  /** A text that helps a later process to find the agents; stored, not read here. */
  readonly agentsRef?: string;
}

const OPEN = {
  dir: true,
  runs: true,
  file: true,
  busyTimeoutMs: true,
  encryptionKey: true,
  readOnly: true,
  agents: true,
  workspace: true,
  code: true,
  checks: true,
  agentChecks: true,
  secrets: true,
  budget: true,
  limits: true,
  prices: true,
  events: true,
  onGate: true,
  config: true,
  now: true,
  newId: true,
} satisfies OptionNames<OrchestratorOptions>;

const START = {
  brief: true,
  id: true,
  documents: true,
  tasks: true,
  research: true,
  review: true,
  gates: true,
  quick: true,
  docsInBranch: true,
  budget: true,
  metadata: true,
  tags: true,
  agentsRef: true,
  tenant: true,
  priority: true,
} satisfies OptionNames<StartOptions>;

/** @throws TypeError for an option that there is not. */
export const openOptionsOf = (given: OrchestratorOptions): OrchestratorOptions =>
  withKnownNames('Orchestrator.open()', given, OPEN);

/** @throws TypeError for an option that there is not. */
export const startOptionsOf = (given: StartOptions): StartOptions =>
  withKnownNames('devs.start()', given, START);

// The names of the options that methods of `Orchestrator` and `Run` take. The compiler asks for a missing name.

const LABELS = { metadata: true, tags: true, owner: true, idPrefix: true } as const;

const REWIND = { by: true, reason: true } satisfies OptionNames<RewindRequest>;

/** Of `Orchestrator`. */
const METHODS = {
  list: {
    ...LABELS,
    ...{ tenant: true, ids: true, status: true, limit: true, after: true },
  } satisfies OptionNames<RunListPage>,
  openGates: { ...LABELS, tenant: true, limit: true, after: true } satisfies OptionNames<GateFilter>,
  remove: { by: true, workspace: true, force: true } satisfies OptionNames<Removal>,
  collect: { workspace: true },
  compact: { maxMs: true, waitMs: true } satisfies OptionNames<CompactOptions>,
  news: { threadId: true },
} as const;

/** Of `Run`. */
const RUN_METHODS = {
  resume: {
    until: true,
    only: true,
    epic: true,
    context: true,
    configurable: true,
    tags: true,
    metadata: true,
    wait: true,
    by: true,
    throwOnFailure: true,
    turn: true,
    drain: true,
    signal: true,
    abort: true,
    callbacks: true,
  } satisfies OptionNames<DriveRunOptions>,
  pause: { abort: true, by: true } satisfies OptionNames<PauseOptions>,
  cancel: { by: true } satisfies OptionNames<Pick<CancelOptions, 'by'>>,
  log: { afterSeq: true, beforeSeq: true, limit: true } satisfies OptionNames<EventPage>,
  checkpoints: { limit: true, before: true } satisfies OptionNames<CheckpointPage>,
  transcript: {
    stage: true,
    attempt: true,
    afterSeq: true,
    limit: true,
  } satisfies OptionNames<TranscriptQuery>,
  trace: { content: true },
  prune: { keepLast: true, pinned: true } satisfies OptionNames<Retention>,
  quotableSections: { code: true } satisfies OptionNames<PlacesOptions>,
  ask: { by: true, signal: true } satisfies OptionNames<AskOptions>,
  acceptGraph: { by: true, renamed: true, removed: true } satisfies OptionNames<GraphAcceptance>,
  revive: { by: true },
  adopt: { by: true, author: true, message: true, signal: true } satisfies OptionNames<Adoption>,
  sync: { by: true } satisfies OptionNames<SyncRequest>,
  rewind: REWIND,
  undoRewind: REWIND,
} as const;

/** Options of a method of an orchestrator, once their names were checked. @throws TypeError for one that there is not. */
export const methodOptionsOf = <Options extends object>(
  method: keyof typeof METHODS,
  given: Options,
): Options => withKnownNames(`devs.${method}()`, given, METHODS[method]);

/** As {@link methodOptionsOf}, of a run. */
export const runOptionsOf = <Options extends object>(
  method: keyof typeof RUN_METHODS,
  given: Options,
): Options => withKnownNames(`run.${method}()`, given, RUN_METHODS[method]);
