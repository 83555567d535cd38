import type { Database, Statement } from 'better-sqlite3';
import { prepare } from '../../db/prepare.ts';
import { DevsError } from '../../errors/DevsError.ts';
import { addSwept, BlobSweeper, NOTHING_SWEPT, type Swept } from '../blobs/BlobSweeper.ts';
import {
  type FencedLease,
  forgetLease,
  immediateTransaction,
  leaseFence,
} from '../commits/immediateTransaction.ts';
import { DecisionTextStore } from '../gates/DecisionTextStore.ts';
import { referringBody } from '../gates/decisionLines.ts';
import type { HitlSessionStore } from '../gates/HitlSessionStore.ts';
import { referencesOf, type StoredState } from '../journaledState.ts';
import type { ChildStore } from '../threads/ChildStore.ts';

/** Ids that begin with another one and a slash ('0' is the next character). */
const isBelow = (column: string, id: string): string =>
  `(${column} > ${id} || '/' AND ${column} < ${id} || '0')`;

/** Frames of a run have its id and a slash in front of their own; another run may have, too, and frames of its own. */
const isOfRun = (column: string): string => `(${column} = @id OR (${isBelow(column, '@id')} AND NOT EXISTS (
  SELECT 1 FROM threads AS other
  WHERE ${isBelow('other.thread_id', '@id')}
    AND (other.thread_id = ${column} OR ${isBelow(column, 'other.thread_id')}))))`;

const CHECKPOINT_TABLES = ['checkpoint_writes', 'checkpoint_blobs', 'checkpoints'] as const;

/** Checkpoints that a node of another run has made on this thread are that run's. */
const isOfItsOwn = (table: string): string => `${isOfRun(`${table}.thread_id`)} AND NOT EXISTS (
  SELECT 1 FROM inner_threads AS bound
  WHERE bound.thread_id = ${table}.thread_id AND bound.checkpoint_ns = ${table}.checkpoint_ns AND bound.run_id <> @id)`;

/** Checkpoints of graphs inside its nodes on threads of their own, unless another run shares them. */
const IN_ITS_NODES = `(thread_id, checkpoint_ns) IN (
  SELECT inside.thread_id, inside.checkpoint_ns FROM inner_threads AS inside
  WHERE inside.run_id = @id AND NOT EXISTS (SELECT 1 FROM threads WHERE threads.thread_id = inside.thread_id)
    AND NOT EXISTS (
      SELECT 1 FROM inner_threads AS bound
      WHERE bound.thread_id = inside.thread_id AND bound.checkpoint_ns = inside.checkpoint_ns AND bound.run_id <> @id))`;

/** Of the graphs inside its nodes; rows that refer to others first. */
const INNER_ROWS: readonly (readonly [table: string, where: string])[] = [
  ...CHECKPOINT_TABLES.map((table) => [table, IN_ITS_NODES] as const),
  ['inner_threads', 'run_id = @id'],
];

const OF_ITS_SESSIONS = `session_id IN (SELECT id FROM hitl_sessions WHERE ${isOfRun('hitl_sessions.thread_id')})`;

/** Tables with rows that name their run as `thread_id`, what refers to others first. */
const NAMING = [
  'hitl_sessions',
  'agent_steps',
  'step_spending',
  'step_transcripts',
  'driven_time',
  'guard_firings',
  'events',
  'stream_events',
  'rewinds',
  'git_packs',
  'git_stands',
  'signals',
  'waits',
  'thread_inputs',
  'queued_turns',
  'webhook_deliveries',
  'run_labels',
  'threads',
] as const;

/** Every table with rows of a run but `hitl_decisions`, what refers to others first. */
const ROWS: readonly (readonly [table: string, where: string])[] = [
  ['hitl_failure_gates', OF_ITS_SESSIONS],
  ['hitl_failure_gates_history', OF_ITS_SESSIONS],
  ['hitl_votes', OF_ITS_SESSIONS],
  ['langgraph_checkpoints', isOfRun('langgraph_checkpoints.graph_id')],
  ['child_runs', isOfRun('child_runs.child_id')],
  ...CHECKPOINT_TABLES.map((table) => [table, isOfItsOwn(table)] as const),
  ...NAMING.map((table) => [table, isOfRun(`${table}.thread_id`)] as const),
];

const BLOBS_OF: readonly (readonly [table: string, where: string])[] = [
  ...(['agent_steps', 'step_transcripts'] as const).map(
    (table) => [table, isOfRun(`${table}.thread_id`)] as const,
  ),
  ...(['checkpoint_blobs', 'checkpoint_writes'] as const).flatMap((table) => [
    [table, isOfItsOwn(table)] as const,
    [table, IN_ITS_NODES] as const,
  ]),
];

const SELECT_BLOBS = BLOBS_OF.map(
  ([table, where]) => `SELECT blob_id FROM ${table} WHERE blob_id IS NOT NULL AND ${where}`,
).join(' UNION ');

const SELECT_TURNS = `
  SELECT serialized_state, sha256 FROM langgraph_checkpoints
  WHERE serialized_state LIKE '{"$devs":%' AND ${isOfRun('langgraph_checkpoints.graph_id')}`;

const HAS_ANSWERS = `
  SELECT 1 FROM hitl_sessions WHERE decision_json IS NOT NULL AND ${isOfRun('hitl_sessions.thread_id')} LIMIT 1`;

const SELECT_OTHERS = 'SELECT thread_id FROM threads WHERE thread_id <> ?';

interface RemovalTarget {
  readonly id: string;
}

/** Tables of the file that it asks. */
interface RemovedBeside {
  readonly children: ChildStore;
  readonly sessions: HitlSessionStore;
}

interface Statements {
  readonly inner: readonly Statement<[RemovalTarget]>[];
  readonly deletes: readonly Statement<[RemovalTarget]>[];
  readonly blobs: Statement<[RemovalTarget], number>;
  readonly turns: Statement<[RemovalTarget], StoredState>;
  readonly hasAnswers: Statement<[RemovalTarget], 1>;
}

/**
 * Deletes runs as a whole, with the runs below them. The lines of the decision log stay, as that is a chain; what was written in their decisions
 * goes, unless another run's decision says the same.
 */
export class RunRemover {
  readonly #db: Database;
  readonly #children: ChildStore;
  readonly #sessions: HitlSessionStore;
  readonly #texts: DecisionTextStore;
  readonly #sweeper: BlobSweeper;
  readonly #statements: Statements;

  /** @param db - An open, migrated state file. */
  constructor(db: Database, { children, sessions }: RemovedBeside) {
    this.#db = db;
    this.#children = children;
    this.#sessions = sessions;
    this.#texts = new DecisionTextStore(db);
    this.#sweeper = new BlobSweeper(db);
    const deleteFrom = ([table, where]: readonly [table: string, where: string]) =>
      prepare<[RemovalTarget]>(db, `DELETE FROM ${table} WHERE ${where}`);
    this.#statements = {
      inner: INNER_ROWS.map(deleteFrom),
      deletes: ROWS.map(deleteFrom),
      blobs: prepare<[RemovalTarget], number>(db, SELECT_BLOBS).pluck(),
      turns: prepare(db, SELECT_TURNS),
      hasAnswers: prepare<[RemovalTarget], 1>(db, HAS_ANSWERS).pluck(),
    };
  }

  /**
   * In the caller's transaction, or its own.
   *
   * @throws DevsError `LEASE_LOST` for a holder that was replaced; `REMOVE_REFUSED` while a run below has not ended, or
   *   the parent has not, which would begin it anew. Nothing is deleted then.
   */
  remove(...leases: readonly FencedLease[]): Swept {
    const { inner, deletes, blobs, turns, hasAnswers } = this.#statements;
    return immediateTransaction(this.#db, () => {
      const used: number[] = [];
      let answered = false;
      for (const lease of leases) {
        leaseFence(this.#db, lease).assertInTx();
        this.#assertAlone(lease.threadId);
        for (const id of [...this.#children.below(lease.threadId), lease.threadId]) {
          used.push(
            ...blobs.all({ id }),
            ...turns.all({ id }).flatMap((turn) => Object.values(referencesOf(turn))),
          );
          answered ||= hasAnswers.get({ id }) !== undefined;
          for (const each of [...inner, ...deletes]) each.run({ id });
          forgetLease(this.#db, id);
        }
      }
      if (answered) this.#texts.dropAllBut(new Set(this.#textsInUse()));
      return this.#sweeper.sweep(used);
    });
  }

  /** Deletes every other run, whatever it does: for a copy that nobody else writes to. */
  keepOnly(id: string): void {
    immediateTransaction(this.#db, () => {
      const others = prepare<[string], string>(this.#db, SELECT_OTHERS).pluck().all(id);
      // A run at a time: shared checkpoints go with the last of their runs.
      for (const other of others) for (const each of this.#statements.inner) each.run({ id: other });
      // A table at a time: a run may refer to another one.
      for (const each of this.#statements.deletes) for (const other of others) each.run({ id: other });
      this.#texts.dropAllBut(new Set(this.#textsInUse()));
    });
    this.sweep();
  }

  /** Deletes values that nothing refers to, of any run; others write meanwhile. */
  sweep(): Swept {
    return [...this.#sweeper.rounds()].reduce(addSwept, NOTHING_SWEPT);
  }

  /** As {@link sweep}, one round at a time. */
  sweepRounds(): Generator<Swept> {
    return this.#sweeper.rounds();
  }

  #assertAlone(threadId: string): void {
    const [open] = this.#children.openBelow(threadId);
    if (open !== undefined)
      throw removalRefused(threadId, `its child "${open}" has not ended`, 'child_not_ended');
    const [parent] = this.#children.openParentOf(threadId);
    if (parent !== undefined)
      throw removalRefused(threadId, `its parent "${parent}" has not ended`, 'parent_not_ended');
  }

  #textsInUse(): readonly string[] {
    return [...this.#sessions.answered()].flatMap((session) => [...referringBody(session).texts.keys()]);
  }
}

const removalRefused = (id: string, why: string, reason: string): DevsError =>
  new DevsError(`Run "${id}" was not removed: ${why}.`, {
    code: 'REMOVE_REFUSED',
    remedy: 'Cancel that run, or resume it until it ends.',
    context: { threadId: id, reason },
  });
