import type { Database, Statement } from 'better-sqlite3';
import { type BusyWait, whenFree } from '../../db/busy.ts';
import { tellNews } from '../../db/FileWatch.ts';
import { keepingRead, keepRead, keepReads, knownRead, readKept } from '../../db/keptReads.ts';
import { prepare } from '../../db/prepare.ts';
import { canonicalJson } from '../../values/canonicalJson.ts';
import {
  endLease,
  type Fence,
  type FencedLease,
  forgetLease,
  holdingLease,
  isHeld,
  leaseFence,
  leaseLost,
  leaseTaken,
  OnceUnderLease,
  withinTransaction,
} from '../commits/immediateTransaction.ts';
import { type StoreOptions, useSeals } from '../rows/rows.ts';
import { GraphOrderStore } from './GraphOrderStore.ts';
import { type HostIdentity, isOwnerAlive, NOBODY, ownerToken, thisHost } from './hostIdentity.ts';
import { RunFolderStore } from './RunFolders.ts';
import { type NewSignal, type SignalKind, SignalStore } from './SignalStore.ts';
import * as sql from './threadRecords.ts';
import {
  type ClaimOptions,
  type ClaimResult,
  DeclaredPolicies,
  hasEnded,
  type Lease,
  type LeaseSnapshot,
  type NewThread,
  type Policies,
  runNotFound,
  THREAD_STATUSES,
  type Thread,
  type ThreadRow,
  type ThreadSettlement,
  type ThreadStatus,
  threadFromRow,
} from './threadRecords.ts';

/**
 * Milliseconds. Drivers that went away before they had begun a node, one after the other within this time, count as one
 * recovery: a machine that goes down again and again while it starts says nothing about the run.
 */
export const RECOVERY_SPAN_MS = 600_000;

/** Requests to who drives a turn: none to who drives the next. */
const OF_A_TURN: readonly SignalKind[] = ['pause', 'cancel'];

/** Milliseconds a lease lasts without renewal, on the clock of its holder. */
export const LEASE_TTL_MS = 10_000;

export interface ThreadStoreOptions extends StoreOptions {
  /** Defaults to the running process. */
  readonly host?: HostIdentity;
}

interface LeaseRow {
  readonly owner: string | null;
  readonly epoch: number;
  readonly expiresMono: number | null;
  readonly bootId: string | null;
  readonly recoveries: number;
}

/**
 * Runs, their leases and their signals. The thread row is the truth about a run: who drives it, where it
 * stands, and whether a request arrived that nobody has taken up.
 */
export class ThreadStore {
  readonly #db: Database;
  readonly #now: () => number;
  readonly #host: HostIdentity;
  readonly #folders: RunFolderStore;
  /** The graphs of the runs in the file. */
  readonly graphs: GraphOrderStore;
  /** Rows of `signals`: requests, and messages for the run's nodes. */
  readonly signals: SignalStore;
  readonly #select: Statement<[string], ThreadRow>;
  readonly #policies: DeclaredPolicies;
  /** They are counted as a lease begins: to reset them once is enough. */
  readonly #reset: OnceUnderLease;
  /** Recoveries were 0 as it began. */
  readonly #uncounted: OnceUnderLease;
  /** Leases that were given back with the status of their run. */
  readonly #settled: OnceUnderLease;
  readonly #insert: Statement<[object], ThreadRow>;
  readonly #selectLease: Statement<[string], LeaseRow>;
  readonly #claim: Statement<[object], ThreadRow>;
  readonly #renew: Statement<[object]>;
  readonly #release: Statement<[object]>;
  readonly #cutOff: Statement<[object]>;
  readonly #evict: Statement<[object]>;
  readonly #settle: Statement<[object]>;
  readonly #wakeParent: Statement<[object]>;
  readonly #begin: Statement<[object], ThreadRow>;
  readonly #countRecovery: Statement<[object]>;
  readonly #markWorked: Statement<[object]>;
  readonly #revive: Statement<[object]>;
  readonly #reopen: Statement<[object]>;
  readonly #beginTurn: Statement<[object]>;
  readonly #seal: Statement<[string]>;
  readonly #markDegraded: Statement<[object]>;
  readonly #setReason: Statement<[object]>;
  readonly #setPolicies: Statement<[object]>;
  readonly #setFingerprint: Statement<[object]>;
  readonly #awaitInput: Statement<[object]>;

  /** @param db - An open, migrated state file. */
  constructor(db: Database, { now = Date.now, host = thisHost() }: ThreadStoreOptions = {}) {
    useSeals(db);
    this.#db = db;
    this.#now = now;
    this.#host = host;
    this.#folders = new RunFolderStore(db);
    this.graphs = new GraphOrderStore(db);
    this.signals = new SignalStore(db, { now });
    this.#select = prepare(db, `SELECT ${sql.COLUMNS} FROM threads WHERE thread_id = ?`);
    this.#policies = new DeclaredPolicies(db);
    this.#reset = new OnceUnderLease(db);
    this.#uncounted = new OnceUnderLease(db);
    this.#settled = new OnceUnderLease(db);
    this.#insert = prepare(db, sql.INSERT);
    this.#selectLease = prepare(db, sql.SELECT_LEASE);
    this.#claim = prepare(db, sql.CLAIM);
    this.#renew = prepare(db, sql.RENEW);
    this.#release = prepare(db, sql.RELEASE);
    this.#cutOff = prepare(db, sql.CUT_OFF);
    this.#evict = prepare(db, sql.EVICT);
    this.#settle = prepare(db, sql.SETTLE);
    this.#wakeParent = prepare(db, sql.WAKE_PARENT);
    this.#begin = prepare(db, sql.BEGIN);
    this.#countRecovery = prepare(db, sql.COUNT_RECOVERY);
    this.#markWorked = prepare(db, sql.MARK_WORKED);
    this.#revive = prepare(db, sql.REVIVE);
    this.#reopen = prepare(db, sql.REOPEN);
    this.#beginTurn = prepare(db, sql.BEGIN_TURN);
    this.#seal = prepare(db, sql.SEAL);
    this.#markDegraded = prepare(db, sql.updateThread('degraded = 1'));
    this.#setReason = prepare(db, sql.updateThread('reason = @value'));
    this.#setPolicies = prepare(db, sql.SET_POLICIES);
    this.#awaitInput = prepare(db, sql.updateThread("status = 'paused', reason = @value"));
    this.#setFingerprint = prepare(db, sql.updateThread('graph_fingerprint = @value'));
  }

  /**
   * Records a run. A run with this id is returned as it is: creating is idempotent.
   *
   * @throws DevsError `WORKSPACE_BUSY` if another live run works in the folder.
   */
  create(thread: NewThread): { readonly thread: Thread; readonly created: boolean } {
    const policiesJson = canonicalJson(thread.policies);
    return withinTransaction(this.#db, () => {
      const existing = this.get(thread.threadId);
      if (existing !== null) return { thread: existing, created: false };
      this.#folders.assertFree(thread);
      const { policies: _, keepsExactly = true, awaitsInput = false, ...columns } = thread;
      this.graphs.note(thread.graphFingerprint);
      const given = { ...columns, policiesJson, keepsExactly: keepsExactly ? 1 : 0, now: this.#now() };
      this.#known(this.#insert.get(given));
      if (awaitsInput) this.#update(this.#awaitInput, thread.threadId, sql.AWAITS_INPUT);
      return { thread: this.require(thread.threadId), created: true };
    });
  }

  get(threadId: string): Thread | null {
    const read = (): Thread | null => {
      const row = this.#select.get(threadId);
      return row === undefined ? null : threadFromRow(row);
    };
    return readKept(this.#db, { ...keptRow(threadId), read });
  }

  /** A row that was just written. */
  #known(row: ThreadRow | undefined): void {
    if (row !== undefined) keepRead(this.#db, keptRow(row.threadId), threadFromRow(row));
  }

  /** Keeps rows of a run until the returned function is called. They are read again after any write that may have changed them. */
  keepReads(threadId: string): () => void {
    return keepReads(this.#db, threadId);
  }

  /** @throws DevsError `THREAD_NOT_FOUND` */
  require(threadId: string): Thread {
    return this.get(threadId) ?? runNotFound(threadId);
  }

  /** The absolute path of a run's folder, wherever the state file lies now; `null` without one. */
  folderOf(thread: Pick<Thread, 'workspace'>): string | null {
    return this.#folders.pathOf(thread);
  }

  /** One policy of a run, by its name of letters; `undefined` if it was not declared, or the run is unknown. */
  policyOf(threadId: string, name: string): unknown {
    const known = knownRead(this.#db, keptRow(threadId)) as Thread | null | undefined;
    return known == null ? this.#policies.of(threadId, name) : known.policies[name];
  }

  /** Every run, newest first. */
  list(): readonly Thread[] {
    return prepare<[object], ThreadRow>(this.#db, sql.SELECT_ALL).all({}).map(threadFromRow);
  }

  /** As `RunStore.whenFree`. */
  whenFree<T>(work: () => T, wait?: BusyWait): Promise<T> {
    return whenFree(this.#db, work, wait);
  }

  /**
   * Takes the lease of a run if nobody holds it, or if its holder has gone: a process of this boot that is
   * provably dead is replaced at once, one that stopped renewing after ten seconds. The wall clock
   * plays no part. Does not look at the run's status.
   *
   * @throws DevsError `THREAD_NOT_FOUND`
   */
  claim(threadId: string, options: ClaimOptions = {}): ClaimResult {
    return withinTransaction(this.#db, () => {
      const held = this.#selectLease.get(threadId) ?? runNotFound(threadId);
      if (held.owner === null) return this.#take(threadId, held, false);
      if (this.#isAbandoned(held, held.owner, options.unchangedFor)) return this.#take(threadId, held, true);
      const { owner, epoch, expiresMono } = held;
      return {
        kind: 'busy',
        owner,
        epoch,
        expiresInMs: this.#expiresInMs(held),
        snapshot: { epoch, expiresMono },
      };
    });
  }

  /** Who holds the lease of a run; `null` when nobody does, or nobody any more that {@link claim} would wait for. */
  driverOf(threadId: string): string | null {
    const held = this.#selectLease.get(threadId);
    if (held === undefined || held.owner === null) return null;
    return this.#isAbandoned(held, held.owner, undefined) ? null : held.owner;
  }

  /** Drivers that have died with a run since it made progress, one that nobody has taken over from included. */
  deathsOf(threadId: string): number {
    const known = knownRead(this.#db, keptRow(threadId)) as Thread | null | undefined;
    if (known?.leaseOwner === null) return known.recoveries;
    const held = this.#selectLease.get(threadId);
    if (held === undefined) return 0;
    const { owner, recoveries } = held;
    return recoveries + (owner !== null && this.#isAbandoned(held, owner, undefined) ? 1 : 0);
  }

  /**
   * Puts the lease's end ten seconds from now.
   *
   * @throws DevsError `LEASE_LOST` if the run was claimed by another driver, or released.
   */
  renew(lease: Lease): void {
    const values = { ...lease, expiresMono: this.#expiry() };
    if (!isHeld(lease) || this.#renew.run(values).changes === 0)
      throw leaseLost(lease, this.get(lease.threadId)?.leaseEpoch ?? null);
  }

  /** Gives the lease back; does nothing if it is lost. */
  release(lease: Lease): void {
    if (isHeld(lease) && !this.#settled.isDone(lease)) this.#release.run({ ...lease, now: this.#now() });
    endLease(lease);
    tellNews(this.#db);
  }

  /** Gives the lease back, and refuses every later write under it. In the caller's transaction. */
  cutOff({ threadId, epoch }: Lease): void {
    this.#cutOff.run({ threadId, epoch, now: this.#now() });
    forgetLease(this.#db, threadId);
  }

  /** Whether this lease was {@link cutOff}, and the run is free since. */
  wasCutOff({ threadId, epoch }: FencedLease): boolean {
    const thread = this.get(threadId);
    return thread?.leaseEpoch === epoch + 1 && thread.leaseOwner === null;
  }

  /**
   * Whoever hands a run out knows that its driver is gone: the next claim takes it over without waiting for the lease to
   * expire. A driver that lives is refused once somebody has claimed the run, and can renew its lease no more. False where
   * nobody held it.
   *
   * @throws DevsError `THREAD_NOT_FOUND`
   */
  evict(threadId: string): boolean {
    return withinTransaction(this.#db, () => {
      this.require(threadId);
      const { bootId } = this.#host;
      return this.#evict.run({ threadId, owner: NOBODY, bootId, now: this.#now() }).changes === 1;
    });
  }

  /** Names this process to others that keep something beside the file: `bootId pid:startTime`. */
  get holder(): string {
    return `${this.#host.bootId} ${ownerToken(this.#host)}`;
  }

  /** True only if the process that called itself so, see `holder`, is provably gone: not for one of another host. */
  isGone(holder: string): boolean {
    const at = holder.lastIndexOf(' ');
    return holder.slice(0, at) === this.#host.bootId && !isOwnerAlive(this.#host, holder.slice(at + 1));
  }

  /** Guards the writes of this lease's driver. */
  fence(lease: FencedLease): Fence {
    return leaseFence(this.#db, lease);
  }

  /**
   * Records a request and raises the run's wake sequence; returns the sequence. A signal whose id is known
   * writes nothing and returns the first one's sequence.
   *
   * @throws DevsError `THREAD_NOT_FOUND`
   */
  signal(threadId: string, signal: NewSignal): number {
    return withinTransaction(this.#db, () => this.signals.record(threadId, signal) ?? runNotFound(threadId));
  }

  /**
   * Records where a run stands and gives the lease back, unless a signal came in after `seenWakeSeq`: then
   * nothing changes and the driver has to look `again`, so that no wake is lost. An end wakes the run's parent.
   *
   * @throws DevsError `LEASE_LOST`
   * @throws RangeError for a status that is none.
   */
  settle(lease: Lease, status: ThreadStatus, { reason, seenWakeSeq }: ThreadSettlement): 'settled' | 'again' {
    if (!THREAD_STATUSES.includes(status)) throw new RangeError(`status: unknown status "${status}"`);
    return this.#held(lease, () => {
      const values = {
        threadId: lease.threadId,
        status,
        reason: reason ?? null,
        seenWakeSeq,
        now: this.#now(),
      };
      if (this.#settle.run(values).changes === 0) return 'again';
      this.#settled.doing(lease, () => hasEnded(status) && this.#wakeParent.run(values));
      return 'settled';
    });
  }

  /**
   * Marks the run as being driven. Pass `recovered` from {@link claim}: it is counted until {@link resetRecoveries}, but
   * once per `RECOVERY_SPAN_MS` where the driver before had not {@link markWorked}.
   *
   * @throws DevsError `LEASE_LOST`, or `WORKSPACE_BUSY` if the run had ended and its folder is another run's now.
   */
  begin(lease: Lease, { recovered = false }: { readonly recovered?: boolean } = {}): Thread {
    return this.#held(lease, () => {
      this.#folders.assertFree(this.require(lease.threadId));
      const { threadId, epoch } = lease;
      const now = this.#now();
      if (recovered) this.#countRecovery.run({ threadId, epoch, now, spanMs: RECOVERY_SPAN_MS });
      this.#known(this.#begin.get({ threadId, now }));
      const thread = this.require(threadId);
      if (thread.recoveries === 0) this.#uncounted.doing(lease, () => {});
      return thread;
    });
  }

  /** The driver begins a node: what happens to it from here on is counted as the run's doing. @throws DevsError `LEASE_LOST` */
  markWorked({ threadId, epoch }: FencedLease): void {
    const mark = (): unknown => this.#markWorked.run({ threadId, epoch });
    this.#fenced({ threadId, epoch }, () => keepingRead(this.#db, keptRow(threadId), mark));
  }

  /**
   * Brings a run back that was given up; the lease stays held. False, and nothing is changed, for any other.
   *
   * @throws DevsError `LEASE_LOST`, or `WORKSPACE_BUSY` if its folder is another run's now.
   */
  revive(lease: FencedLease, reason: string): boolean {
    const { threadId } = lease;
    return this.#fenced(lease, () => {
      this.#folders.assertFree(this.require(threadId));
      return this.#revive.run({ threadId, reason, now: this.#now() }).changes === 1;
    });
  }

  /**
   * Puts a run where it stands after it was set back; the lease stays held.
   *
   * @throws DevsError `LEASE_LOST`
   */
  reopen(lease: FencedLease, status: 'paused' | 'completed', reason: string | null): void {
    const { threadId } = lease;
    this.#fenced(lease, () => this.#reopen.run({ threadId, status, reason, now: this.#now() }));
  }

  /**
   * Puts a run that has ended at the beginning of its next turn; the lease stays held. Requests to the one before are done.
   *
   * @throws DevsError `LEASE_LOST`, or `WORKSPACE_BUSY` if its folder is another run's now.
   */
  beginTurn(lease: Lease): void {
    const { threadId } = lease;
    this.#held(lease, () => {
      this.#folders.assertFree(this.require(threadId));
      for (const { id } of this.signals.pending(threadId, OF_A_TURN)) this.signals.consume(id);
      this.#beginTurn.run({ threadId, now: this.#now() });
    });
  }

  /** The run made progress. @throws DevsError `LEASE_LOST` */
  resetRecoveries(lease: FencedLease): void {
    const values = { threadId: lease.threadId, now: this.#now() };
    const reset = (): unknown => prepare(this.#db, sql.RESET_RECOVERIES).run(values);
    const isCounted = !this.#uncounted.isDone(lease) && this.get(lease.threadId)?.recoveries !== 0;
    if (this.#reset.isDone(lease) || !(isCounted || this.#db.inTransaction)) this.fence(lease).assertInTx();
    else this.#fenced(lease, () => this.#reset.doing(lease, isCounted ? reset : () => {}));
  }

  /** Whether it has under this lease. */
  hasProgressed(lease: FencedLease): boolean {
    return this.#reset.isDone(lease);
  }

  /** Why its driver leaves a run that can continue, until it does. @throws DevsError `LEASE_LOST` */
  noteFault(lease: FencedLease, reason: string): void {
    this.#fenced(lease, () => this.#update(this.#setReason, lease.threadId, reason));
  }

  /** The run has lost journal rows (law L6). */
  markDegraded(threadId: string): void {
    this.#update(this.#markDegraded, threadId);
  }

  updatePolicies(threadId: string, policies: Policies): void {
    this.#declare(this.#setPolicies, threadId, canonicalJson(policies));
  }

  setFingerprint(threadId: string, fingerprint: string): void {
    withinTransaction(this.#db, () => {
      this.graphs.note(fingerprint);
      this.#declare(this.#setFingerprint, threadId, fingerprint);
    });
  }

  #isAbandoned(held: LeaseRow, owner: string, unchangedFor: LeaseSnapshot | undefined): boolean {
    if (held.bootId === this.#host.bootId) {
      const left = this.#expiresInMs(held) ?? 0;
      // No lease ends later than that: where a host is named alike after every start, this one is of an earlier.
      const isOfEarlierBoot = left > LEASE_TTL_MS;
      return !isOwnerAlive(this.#host, owner) || left <= 0 || isOfEarlierBoot;
    }
    return unchangedFor?.epoch === held.epoch && unchangedFor.expiresMono === held.expiresMono;
  }

  #take(threadId: string, held: LeaseRow, recovered: boolean): ClaimResult {
    const owner = ownerToken(this.#host);
    const row = this.#claim.get({
      threadId,
      owner,
      bootId: this.#host.bootId,
      expiresMono: this.#expiry(),
      seenEpoch: held.epoch,
      seenOwner: held.owner,
      now: this.#now(),
    });
    if (row === undefined) throw leaseLost({ threadId, epoch: held.epoch }, null);
    this.#known(row);
    const { leaseEpoch: epoch } = row;
    leaseTaken(this.#db, { threadId, epoch });
    return { kind: 'claimed', lease: holdingLease({ threadId, owner, epoch }), recovered };
  }

  #expiry(): number {
    return this.#host.monotonicMs() + LEASE_TTL_MS;
  }

  #expiresInMs({ bootId, expiresMono }: LeaseRow): number | null {
    if (bootId !== this.#host.bootId || expiresMono === null) return null;
    return expiresMono - this.#host.monotonicMs();
  }

  #declare(statement: Statement<[object]>, threadId: string, value: string): void {
    withinTransaction(this.#db, () => {
      this.require(threadId); // What is not as it was written is not sealed again.
      this.#update(statement, threadId, value);
      this.#seal.run(threadId);
    });
  }

  #update(statement: Statement<[object]>, threadId: string, value?: string): void {
    const values = { threadId, now: this.#now(), ...(value !== undefined && { value }) };
    if (statement.run(values).changes === 0) runNotFound(threadId);
  }

  #held<T>(lease: Lease, work: () => T): T {
    if (!isHeld(lease)) throw leaseLost(lease, this.get(lease.threadId)?.leaseEpoch ?? null);
    return this.#fenced(lease, work);
  }

  #fenced<T>(lease: FencedLease, work: () => T): T {
    return withinTransaction(this.#db, () => {
      this.fence(lease).assertInTx();
      return work();
    });
  }
}

/** The row of a run. */
const keptRow = (threadId: string) => ({ threadId, name: 'run', tables: ['threads'] });
