export const THREAD_STATUSES = [
  'created',
  'running',
  'waiting',
  'paused',
  'completed',
  'failed',
  'cancelled',
  'dead_letter',
] as const;

/** The ends of a run; a failed one may be driven again. */
export const ENDED_STATUSES = ['completed', 'failed', 'cancelled', 'dead_letter'] as const;

/** Where a run stands. */
export type ThreadStatus = (typeof THREAD_STATUSES)[number];

/** How a run can have ended. */
export type EndedStatus = (typeof ENDED_STATUSES)[number];

const ENDED: ReadonlySet<ThreadStatus> = new Set(ENDED_STATUSES);

/** Whether a run has ended, a failed one too. */
export const hasEnded = (status: ThreadStatus): status is EndedStatus => ENDED.has(status);

/** What was declared at the start of a run, e.g. `{ gates: { design: 'human', dag: 'auto' } }`. Plain JSON. */
export type Policies = Readonly<Record<string, unknown>>;

/** A run: the truth about it, written before its graph is called. */
export interface Thread {
  readonly threadId: string;
  readonly projectId: string;
  /**
   * The run's folder by its name in the file, see `workspaceName`: relative to the state folder where it lies in or
   * beside it, or as it was given; `null` without one. {@link ThreadStore.folderOf} gives the path.
   */
  readonly workspace: string | null;
  readonly briefSha256: string | null;
  readonly graphFingerprint: string;
  readonly policies: Policies;
  readonly status: ThreadStatus;
  /** Why it ended or waits, for people. */
  readonly reason: string | null;
  /** True once journal rows were lost. */
  readonly degraded: boolean;
  /** Raised by every signal. */
  readonly wakeSeq: number;
  /** The last wake a driver settled on. */
  readonly handledSeq: number;
  readonly leaseOwner: string | null;
  readonly leaseEpoch: number;
  /** Times that a driver had gone, since the last progress, as `ThreadStore.begin` counts them. */
  readonly recoveries: number;
  /** Milliseconds since the Unix epoch, UTC. */
  readonly createdAt: number;
  /** Milliseconds since the Unix epoch, UTC. */
  readonly updatedAt: number;
  /** Milliseconds since the Unix epoch, UTC; `null` while it has not ended. A failed run that is driven again has not. */
  readonly endedAt: number | null;
  /** False for a run of a release that masked what it recorded: what is compared with that is masked, too. */
  readonly keepsExactly: boolean;
}

export type NewThread = Pick<
  Thread,
  'threadId' | 'projectId' | 'workspace' | 'briefSha256' | 'graphFingerprint' | 'policies'
> & {
  /** @defaultValue true */
  readonly keepsExactly?: boolean;
};

/** The right to drive a run until somebody claims the next epoch. */
export interface Lease {
  readonly threadId: string;
  /** `pid:startTime` of the holder. */
  readonly owner: string;
  readonly epoch: number;
}

/** What a waiting claimer saw of a lease that he cannot judge; see {@link ClaimOptions}. */
export interface LeaseSnapshot {
  readonly epoch: number;
  readonly expiresMono: number | null;
}

export interface ClaimOptions {
  /**
   * A snapshot from an earlier `busy`, taken at least `LEASE_TTL_MS` ago on the claimer's own clock: if the
   * lease is still the same, its holder on another host has stopped renewing and is replaced.
   */
  readonly unchangedFor?: LeaseSnapshot;
}

export type ClaimResult =
  /** `recovered`: the lease was taken from a driver that had gone. */
  | { readonly kind: 'claimed'; readonly lease: Lease; readonly recovered: boolean }
  | {
      readonly kind: 'busy';
      readonly owner: string;
      readonly epoch: number;
      /** Milliseconds until it may be taken; `null` if the holder's clock is not ours. */
      readonly expiresInMs: number | null;
      readonly snapshot: LeaseSnapshot;
    };

export interface ThreadSettlement {
  readonly reason?: string;
  /** The wake sequence the driver has taken into account. */
  readonly seenWakeSeq: number;
}
