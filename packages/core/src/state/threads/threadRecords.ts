// Records of runs. The rows of `threads`: their statements, how a row becomes a run, and the policies in it.

import type { Database, Statement } from 'better-sqlite3';
import { prepare } from '../../db/prepare.ts';
import { DevsError } from '../../errors/DevsError.ts';
import { isSound, parseStored, sealOf, THREAD_SEAL } from '../rows/rows.ts';

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

/** Why a run is paused that was recorded before its first input: it is not due. */
export const AWAITS_INPUT = 'no input yet';

/** Whether a run waits for its first input. */
export const awaitsInput = ({ status, reason }: Pick<Thread, 'status' | 'reason'>): boolean =>
  status === 'paused' && reason === AWAITS_INPUT;

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
  /** Whether it is recorded before its first input. @defaultValue false */
  readonly awaitsInput?: boolean;
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

/** The statuses of runs that have ended, behind `IN`. */
export const ENDED_SQL = `(${ENDED_STATUSES.map((status) => `'${status}'`).join(', ')})`;

export const COLUMNS = `
  thread_id AS threadId, project_id AS projectId, workspace, brief_sha256 AS briefSha256,
  graph_fingerprint AS graphFingerprint, policies_json AS policiesJson, status, reason, degraded,
  wake_seq AS wakeSeq, handled_seq AS handledSeq, lease_owner AS leaseOwner, lease_epoch AS leaseEpoch,
  recoveries, created_at AS createdAt, updated_at AS updatedAt, ended_at AS endedAt, keeps_exactly AS keepsExactly,
  ${isSound(THREAD_SEAL)} AS sound`;

/** Of the status that is set: when the run ended, or nothing. */
const ENDED_AT = `ended_at = iif(@status IN ${ENDED_SQL}, @now, NULL)`;

export const INSERT = `
  INSERT INTO threads (thread_id, project_id, workspace, brief_sha256, graph_fingerprint, policies_json,
                       graph_name, created_at, updated_at, keeps_exactly, declared_sha256)
  VALUES (@threadId, @projectId, @workspace, @briefSha256, @graphFingerprint, @policiesJson,
          @policiesJson ->> '$.graphName', @now, @now, @keepsExactly,
          ${sealOf(THREAD_SEAL, ['@threadId', '@projectId', '@workspace', '@briefSha256', '@graphFingerprint', '@policiesJson'])})
  RETURNING ${COLUMNS}`;

export const SEAL = `UPDATE threads SET declared_sha256 = ${sealOf(THREAD_SEAL)} WHERE thread_id = ?`;

// Of one member: the whole record holds the shape of the run's graph.
const SELECT_POLICY = `SELECT policies_json -> ? FROM threads WHERE thread_id = ? AND ${isSound(THREAD_SEAL)}`;

const SELECT_DECLARED = 'SELECT declared_sha256 FROM threads WHERE thread_id = ?';

export const SELECT_ALL = `SELECT ${COLUMNS} FROM threads ORDER BY created_at DESC, rowid DESC`;

export const SELECT_LEASE = `
  SELECT lease_owner AS owner, lease_epoch AS epoch, lease_expires_mono AS expiresMono, lease_boot_id AS bootId,
    recoveries
  FROM threads WHERE thread_id = ?`;

export const CLAIM = `
  UPDATE threads SET lease_owner = @owner, lease_epoch = lease_epoch + 1, lease_expires_mono = @expiresMono,
                     lease_boot_id = @bootId, updated_at = @now
  WHERE thread_id = @threadId AND lease_epoch = @seenEpoch AND lease_owner IS @seenOwner
  RETURNING ${COLUMNS}`;

export const RENEW = `
  UPDATE threads SET lease_expires_mono = @expiresMono
  WHERE thread_id = @threadId AND lease_epoch = @epoch AND lease_owner = @owner`;

export const RELEASE = `
  UPDATE threads SET lease_owner = NULL, lease_expires_mono = NULL, lease_boot_id = NULL, updated_at = @now
  WHERE thread_id = @threadId AND lease_epoch = @epoch AND lease_owner = @owner`;

// The next epoch has no holder: every write under this one is refused.
export const CUT_OFF = `
  UPDATE threads SET lease_owner = NULL, lease_expires_mono = NULL, lease_boot_id = NULL, lease_epoch = lease_epoch + 1,
                     updated_at = @now
  WHERE thread_id = @threadId AND lease_epoch = @epoch`;

export const EVICT = `
  UPDATE threads SET lease_owner = @owner, lease_boot_id = @bootId, updated_at = @now
  WHERE thread_id = @threadId AND lease_owner IS NOT NULL`;

export const SETTLE = `
  UPDATE threads SET status = @status, reason = @reason, ${ENDED_AT}, handled_seq = @seenWakeSeq, lease_owner = NULL,
                     lease_expires_mono = NULL, lease_boot_id = NULL, updated_at = @now
  WHERE thread_id = @threadId AND wake_seq <= @seenWakeSeq`;

// Whoever waits for the run has something to look at.
export const WAKE_PARENT = `
  UPDATE threads SET wake_seq = wake_seq + 1, updated_at = @now
  WHERE thread_id = (SELECT parent_id FROM child_runs WHERE child_id = @threadId)`;

export const BEGIN = `
  UPDATE threads SET status = 'running', reason = NULL, ended_at = NULL, updated_at = @now WHERE thread_id = @threadId
  RETURNING ${COLUMNS}`;

// The driver that went away held the lease before this one.
export const COUNT_RECOVERY = `
  UPDATE threads SET recoveries = recoveries + 1, recovery_counted_at = @now
  WHERE thread_id = @threadId
    AND (worked_epoch = @epoch - 1 OR recovery_counted_at IS NULL
      OR @now NOT BETWEEN recovery_counted_at AND recovery_counted_at + @spanMs - 1)`;

export const MARK_WORKED = `
  UPDATE threads SET worked_epoch = @epoch WHERE thread_id = @threadId AND worked_epoch IS NOT @epoch`;

export const REVIVE = `
  UPDATE threads SET status = 'paused', reason = @reason, ended_at = NULL, recoveries = 0, recovery_counted_at = NULL,
                     updated_at = @now
  WHERE thread_id = @threadId AND status = 'dead_letter'`;

/** Policies, with the column of the app's name. */
export const SET_POLICIES = updateThread("policies_json = @value, graph_name = @value ->> '$.graphName'");

export const REOPEN = `
  UPDATE threads SET status = @status, reason = @reason, ${ENDED_AT}, recoveries = 0, updated_at = @now
  WHERE thread_id = @threadId`;

export const BEGIN_TURN = `
  UPDATE threads SET status = 'created', reason = NULL, recoveries = 0, recovery_counted_at = NULL, updated_at = @now
  WHERE thread_id = @threadId`;

/** Sets one thing of a run, `@value` where it is given. */
export function updateThread(assignment: string): string {
  return `UPDATE threads SET ${assignment}, updated_at = @now WHERE thread_id = @threadId`;
}

export const RESET_RECOVERIES = `${updateThread('recoveries = 0')} AND recoveries > 0`;

/** A run as the file has it. */
export interface ThreadRow extends Omit<Thread, 'policies' | 'degraded' | 'keepsExactly'> {
  readonly policiesJson: string;
  readonly degraded: 0 | 1;
  readonly keepsExactly: 0 | 1;
  readonly sound: 1;
}

/** @throws DevsError `STATE_CORRUPT` */
export function threadFromRow({ policiesJson, degraded, keepsExactly, sound: _, ...row }: ThreadRow): Thread {
  if (!THREAD_STATUSES.includes(row.status)) throw unknownStatus(row.threadId);
  const policies = parseStored(policiesJson, `run "${row.threadId}"`) as Policies;
  return { ...row, degraded: degraded === 1, keepsExactly: keepsExactly === 1, policies };
}

function unknownStatus(threadId: string): DevsError {
  return new DevsError(`Run "${threadId}" has an unknown status.`, {
    code: 'STATE_CORRUPT',
    remedy: 'Run devs admin doctor, then restore a backup of the state file.',
    context: { threadId },
  });
}

/** @throws DevsError `THREAD_NOT_FOUND` */
export function runNotFound(threadId: string): never {
  throw new DevsError(`There is no run "${threadId}" in this state file.`, {
    code: 'THREAD_NOT_FOUND',
    remedy: 'List the runs to find the right id, or start this run.',
    context: { threadId },
  });
}

interface KnownPolicy {
  readonly threadId: string;
  /** Of the row that it was read from, which was found sound. */
  readonly check: Buffer;
  readonly json: string | null;
}

/**
 * The policies of runs. They are declared with what may be a long brief and seldom change, and every visit of a node asks: a
 * row is judged anew once its check value is another.
 */
export class DeclaredPolicies {
  readonly #select: Statement<[string, string], string | null>;
  readonly #selectCheck: Statement<[string], Buffer | null>;
  /** By name, the one that was read last. */
  readonly #known = new Map<string, KnownPolicy>();

  /** @param db - An open, migrated state file. */
  constructor(db: Database) {
    this.#select = prepare<[string, string], string | null>(db, SELECT_POLICY).pluck();
    this.#selectCheck = prepare<[string], Buffer | null>(db, SELECT_DECLARED).pluck();
  }

  /** One of a run, by its name of letters; `undefined` if it was not declared, or the run is unknown. */
  of(threadId: string, name: string): unknown {
    const check = this.#selectCheck.get(threadId) ?? null;
    const known = this.#known.get(name);
    const isKnown = check !== null && known?.threadId === threadId && known.check.equals(check);
    const json = isKnown ? known.json : (this.#select.get(name, threadId) ?? null);
    if (check !== null && !isKnown) this.#known.set(name, { threadId, check, json });
    return json === null ? undefined : parseStored(json, `run "${threadId}"`);
  }
}
