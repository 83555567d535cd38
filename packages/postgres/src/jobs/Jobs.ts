import type { ClientBase } from 'pg';

/** A run, as its dispatcher knows it: columns of `runs`. */
export interface QueuedRun {
  readonly runId: string;
  /** {@link queueName} of its graph in its shape. */
  readonly queue: string;
  readonly tenant: string;
  /** The highest is driven first. */
  readonly priority: number;
  /** Processes that died after they had begun it, since it made progress: from {@link SUSPECT_DEATHS} on, a worker without other runs drives it. */
  readonly deaths: number;
  /** Of a worker, that its file takes: with more than one, an empty worker claims it. */
  readonly slots: number;
}

/**
 * With so many deaths, a run may be the cause of them. One death proves little: a deployment or a kill ends every run of a
 * process, and they go on side by side.
 */
export const SUSPECT_DEATHS = 2;

/** Of a file that takes one slot, bytes: in memory it takes four times as many. */
export const SLOT_BYTES = 32 * 1024 * 1024;

export const slotsOf = (fileBytes: number): number => Math.max(1, Math.ceil(fileBytes / SLOT_BYTES));

/** Whether only an empty worker takes it. */
export const isApart = ({ deaths, slots }: Pick<QueuedRun, 'deaths' | 'slots'>): boolean =>
  deaths >= SUSPECT_DEATHS || slots > 1;

/** With so many deaths a run is given up. */
export const MAX_DEATHS = 5;

/** With so many that died between its claim and its first node, too. */
export const MAX_EARLY_DEATHS = 20;

/** After a drive that has failed there are so many more; then the run is given up. */
export const MAX_RETRIES = 8;

/**
 * Has runs driven. All but {@link openQueue} and {@link close} take part in the caller's transaction, which holds the row of
 * the run: what they do counts with it, and nobody claims or settles the run meanwhile.
 */
export interface Jobs {
  /** Makes a queue where there is none. Asked once per process and queue, before a run is created in it. */
  openQueue(queue: string): Promise<void>;
  /** Has the run driven as soon as a worker has a slot. Nothing where a job of it waits or is in hand: its driver looks again when it settles. */
  wake(client: ClientBase, run: QueuedRun): Promise<void>;
  /**
   * The same for a run that the caller's statement records: parts of its `WITH`. Nothing happens where its `held` is empty; `notified` has
   * to be read. @param first - Number of the first of `values`.
   */
  wakeNew(
    run: QueuedRun,
    first: number,
  ): Promise<{ readonly sql: string; readonly values: readonly unknown[] }>;
  /** A part of a `WITH`: the job of the run in `held (job)` has done its work. @param queue - A parameter, its queue. */
  doneSql(queue: string): string;
  /** The job that the run was claimed with has done its work. Nothing where it is gone already. */
  complete(client: ClientBase, run: QueuedRun, jobId: string): Promise<void>;
  /** Deletes all jobs of deleted runs: waiting, active, failed and dead letters. */
  forget(client: ClientBase, runIds: readonly string[]): Promise<void>;
  close(): Promise<void>;
}

/** Where runs of a graph wait for workers that have it in this shape. */
export const queueName = ({
  graph,
  fingerprint,
}: {
  readonly graph: string;
  readonly fingerprint: string;
}): string => `runs.${graph}.${fingerprint.slice(0, 16)}`;
