// The names of the options that methods of `Orchestrator` and `Run` take. The compiler asks for a missing name.

import { type OptionNames, withKnownNames } from '../config/knownOptions.ts';
import type { GraphAcceptance } from '../engine/change/takeGraph.ts';
import type { CancelOptions, PauseOptions } from '../engine/drive/stopRequests.ts';
import type { CompactOptions } from '../engine/runs/compactFile.ts';
import type { GateFilter } from '../engine/runs/Runs.ts';
import type { CheckpointPage } from '../engine/runs/snapshots.ts';
import type { Retention } from '../engine/saver/ThreadPruner.ts';
import type { EventPage } from '../state/events/EventStore.ts';
import type { AskOptions } from './askGate.ts';
import type { PlacesOptions } from './gatesOfRun.ts';
import type { DriveRunOptions, RunListPage } from './PipelineFiles.ts';
import type { Removal } from './removeRun.ts';
import type { RewindRequest } from './rewind/rewindRun.ts';
import type { TranscriptQuery } from './transcripts.ts';
import type { Adoption, SyncRequest } from './userChanges.ts';

const LABELS = { metadata: true, tags: true, idPrefix: true } as const;

const REWIND = { by: true, reason: true } satisfies OptionNames<RewindRequest>;

/** Of `Orchestrator`. */
const METHODS = {
  list: { ...LABELS, ids: true, status: true, limit: true, after: true } satisfies OptionNames<RunListPage>,
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
  cancel: { by: true } satisfies OptionNames<CancelOptions>,
  log: { afterSeq: true, beforeSeq: true, limit: true } satisfies OptionNames<EventPage>,
  checkpoints: { limit: true, before: true } satisfies OptionNames<CheckpointPage>,
  transcript: {
    stage: true,
    attempt: true,
    afterSeq: true,
    limit: true,
  } satisfies OptionNames<TranscriptQuery>,
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
