// The names of the options that an app takes, method by method. The compiler asks for a missing name.

import { assertDurability } from '../../config/durability.ts';
import { type OptionNames, withKnownNames } from '../../config/knownOptions.ts';
import type { GraphAcceptance } from '../change/takeGraph.ts';
import type { StateUpdate } from '../change/updateRun.ts';
import type { RunDueOptions } from '../drive/drive.ts';
import type { SignalOptions } from '../drive/signals.ts';
import type { CancelOptions, PauseOptions } from '../drive/stopRequests.ts';
import type { WorkOptions } from '../drive/work.ts';
import type { AppOptions } from '../file/AppFactory.ts';
import type { CreateOptions, ExecuteOptions, StartOptions } from '../file/RunOptions.ts';
import type { SendOptions } from '../outbox/OutboxSender.ts';
import type { CompactOptions } from '../runs/compactFile.ts';
import type { DeleteFilter, DeleteOptions } from '../runs/deleteRuns.ts';
import type { FollowOptions } from '../runs/followRun.ts';
import type { ForkOptions } from '../runs/forkRun.ts';
import type { GateEventOptions } from '../runs/gateEvents.ts';
import type { GateFilter, PageRequest, QueueOptions, RunFilter } from '../runs/Runs.ts';
import type { HistoryOptions, SnapshotOptions } from '../runs/snapshots.ts';
import type { Retention } from '../saver/ThreadPruner.ts';
import type { ScheduledOptions, ScheduleOptions } from '../schedules/Schedule.ts';
import type { StreamOptions } from '../stream/streamRun.ts';
import type { ExportOptions } from '../transfer/exportThread.ts';
import type { ImportOptions } from '../transfer/importThread.ts';

/** Options of `durable` that are the app's, wherever its runs are. */
export const APP_OPTIONS = {
  gates: true,
  graphChanges: true,
  guards: true,
  store: true,
  cache: true,
  limits: true,
  budget: true,
  prices: true,
  streams: true,
  durability: true,
  version: true,
  secrets: true,
  events: true,
  webhooks: true,
  telemetry: true,
  now: true,
  newId: true,
} satisfies OptionNames<AppOptions<never>>;

const GUARDS = {
  maxDepth: true,
  entropyThreshold: true,
  entropy: true,
  polling: true,
} satisfies OptionNames<NonNullable<AppOptions<never>['guards']>>;

const SCHEDULED = {
  context: true,
  configurable: true,
  tags: true,
  metadata: true,
  by: true,
  owner: true,
  budget: true,
  webhook: true,
  tenant: true,
  priority: true,
} satisfies OptionNames<ScheduledOptions>;

const BEGIN = { ...SCHEDULED, turn: true } satisfies OptionNames<Omit<StartOptions, 'multitaskStrategy'>>;

const START = { ...BEGIN, multitaskStrategy: true } satisfies OptionNames<StartOptions>;

const RUN = {
  ...BEGIN,
  wait: true,
  signal: true,
  drain: true,
  abort: true,
  callbacks: true,
  throwOnFailure: true,
  durability: true,
} satisfies OptionNames<ExecuteOptions>;

const LABELS = { metadata: true, tags: true, owner: true } as const;

const PAGE = { limit: true, after: true } satisfies OptionNames<PageRequest>;

const FOUND = { ...LABELS, idPrefix: true, tenant: true } satisfies OptionNames<
  Omit<GateFilter, keyof PageRequest>
>;

const DELETE = { by: true, waitMs: true } satisfies OptionNames<DeleteOptions>;

const METHODS = {
  start: START,
  run: RUN,
  stream: { ...RUN, streamMode: true, subgraphs: true, after: true, overTurns: true } satisfies OptionNames<
    ExecuteOptions & StreamOptions
  >,
  result: { wait: true, signal: true },
  runDue: {
    drain: true,
    signal: true,
    abort: true,
    callbacks: true,
    now: true,
    limit: true,
  } satisfies OptionNames<RunDueOptions>,
  follow: { after: true, signal: true } satisfies OptionNames<FollowOptions>,
  signal: { by: true, signalId: true, start: true } satisfies OptionNames<
    SignalOptions & { readonly start?: object }
  >,
  create: { ...LABELS, tenant: true, priority: true, ifExists: true } satisfies OptionNames<CreateOptions>,
  work: {
    concurrency: true,
    signal: true,
    abort: true,
    callbacks: true,
    onRun: true,
    onError: true,
  } satisfies OptionNames<WorkOptions>,
  getState: { checkpointId: true, subgraphs: true } satisfies OptionNames<SnapshotOptions>,
  getStateHistory: { limit: true, before: true, filter: true } satisfies OptionNames<HistoryOptions>,
  updateState: { asNode: true, config: true, by: true } satisfies OptionNames<StateUpdate>,
  acceptGraph: { by: true, renamed: true, removed: true } satisfies OptionNames<GraphAcceptance>,
  revive: { by: true },
  prune: { keepLast: true, pinned: true } satisfies OptionNames<Retention>,
  fork: { as: true, checkpointId: true, by: true } satisfies OptionNames<ForkOptions>,
  place: { tenant: true, priority: true } satisfies OptionNames<QueueOptions>,
  pause: { abort: true, by: true } satisfies OptionNames<PauseOptions>,
  cancel: { by: true, turn: true } satisfies OptionNames<CancelOptions>,
  importThread: {
    saver: true,
    by: true,
    history: true,
    dryRun: true,
    context: true,
    configurable: true,
    tags: true,
    metadata: true,
    tenant: true,
    priority: true,
  } satisfies OptionNames<ImportOptions>,
  exportThread: { saver: true, history: true, dryRun: true } satisfies OptionNames<ExportOptions>,
  delete: DELETE,
  deleteOlderThan: { ...DELETE, endedBefore: true, limit: true } satisfies OptionNames<DeleteFilter>,
  compact: { maxMs: true, waitMs: true } satisfies OptionNames<CompactOptions>,
  schedule: {
    ...{ cron: true, every: true, timeZone: true, overlap: true, thread: true, until: true },
    ...SCHEDULED,
  } satisfies OptionNames<ScheduleOptions>,
  sendWebhooks: { signal: true, wait: true, again: true } satisfies OptionNames<SendOptions>,
  gateEvents: { after: true, signal: true, wait: true } satisfies OptionNames<GateEventOptions>,
  openGates: { ...PAGE, ...FOUND } satisfies OptionNames<GateFilter>,
  list: {
    ...PAGE,
    ...FOUND,
    status: true,
    graph: true,
    due: true,
    createdSince: true,
    createdBefore: true,
  } satisfies OptionNames<RunFilter>,
} as const;

/**
 * Options of a method, once their names were checked.
 *
 * @param what - The method in the message.
 * @throws TypeError for one that there is not, RangeError.
 */
export function optionsOf<Options extends object>(
  method: keyof typeof METHODS,
  given: Options,
  what = `app.${method}()`,
): Options {
  const options = withKnownNames(what, given, METHODS[method]);
  if ('durability' in options) assertDurability(what, options.durability);
  return options;
}

/** @throws TypeError for a guard's option that there is not. */
export function assertGuardNames(guards: object | undefined): void {
  if (guards !== undefined) withKnownNames('guards', guards, GUARDS);
}
