import type { Lease, Thread } from '../../state/threads/threadRecords.ts';
import type { CheckpointUpdate, RecordUpdate } from '../change/updateRun.ts';
import type { DriveOptions } from '../drive/drive.ts';
import type { RunResult } from '../drive/RunResult.ts';
import type { EngineStore } from '../gates/EngineStore.ts';
import type { NewRunRecord } from '../start/RunStarts.ts';
import type { RunOptions } from './RunOptions.ts';

/** Options of a drive that only the engine's own clients have. */
export type OwnDriveOptions = Omit<RunOptions, 'turn' | 'throwOnFailure'> &
  Pick<DriveOptions, 'goal' | 'prepare' | 'lost' | 'settles'>;

/** The members of an app for the engine's own clients: the pipeline, and apps over files elsewhere. Users do not see them. */
export interface AppInternals<Output> {
  readonly store: EngineStore;
  readonly newId: () => string;
  readonly maxDepth: number;
  /**
   * Records a run; returns it as it is when the id is known. Nothing is executed.
   *
   * @throws DevsError `INVALID_INPUT` for a `Command`; `THREAD_NOT_OURS` for an id that has checkpoints and is no run.
   */
  recordRun(admission: NewRunRecord): Promise<Thread>;
  /** As `run` of the app, and never throws for a run that has failed. */
  run(
    id: string,
    input: unknown,
    options: RunOptions & Pick<DriveOptions, 'prepare'>,
  ): Promise<RunResult<Output>>;
  /** Drives a recorded run in the turn that it stands in; see `run` of the app. */
  drive(id: string, options?: OwnDriveOptions): Promise<RunResult<Output>>;
  /**
   * Holds a run, so that nobody drives it meanwhile.
   *
   * @throws DevsError `THREAD_BUSY` while somebody does, `THREAD_NOT_FOUND`.
   */
  withLease<T>(id: string, work: (lease: Lease) => Promise<T>): Promise<T>;
  /** Puts a checkpoint on top of a run's latest, in one transaction with what `record` writes; see `rewindTo` in `change/`. */
  rewindTo(lease: Lease, placement: CheckpointUpdate, record: RecordUpdate): Promise<void>;
  /**
   * Holds a run while `work` changes what its next visit starts from; see `assertBetweenNodes`.
   *
   * @throws DevsError `WORKSPACE_BUSY`; otherwise as {@link withLease}.
   */
  betweenNodes<T>(id: string, work: (lease: Lease) => Promise<T>): Promise<T>;
}

const internals = new WeakMap<object, AppInternals<unknown>>();

/** Called once by each app, when it is made. */
export function registerInternals<Output>(app: object, own: AppInternals<Output>): void {
  internals.set(app, own as AppInternals<unknown>);
}

/** @throws TypeError unless `app` is an app over a state file. */
export function internalsOf<Output>(app: {
  run(id: string): Promise<RunResult<Output>>;
}): AppInternals<Output> {
  const own = internals.get(app);
  if (own === undefined) throw new TypeError('Expected an app over a state file.');
  return own as AppInternals<Output>;
}
