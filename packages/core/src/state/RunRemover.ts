import type { Database, Statement } from 'better-sqlite3';
import { prepare } from '../db/prepare.ts';
import { DevsError } from '../errors/DevsError.ts';
import { BlobSweeper, type Swept } from './blobs/BlobSweeper.ts';
import { ChildStore } from './ChildStore.ts';
import { DecisionTextStore } from './DecisionTextStore.ts';
import { referringBody } from './decisionBody.ts';
import { type FencedLease, leaseFence } from './Fence.ts';
import { HitlSessionStore } from './HitlSessionStore.ts';
import { immediately } from './immediately.ts';

// Frames of a run have its id and a slash in front of their own ('0' is the next character).
const OF_RUN = "(thread_id = @id OR (thread_id > @id || '/' AND thread_id < @id || '0'))";
const OF_ITS_SESSIONS = `session_id IN (SELECT id FROM hitl_sessions WHERE ${OF_RUN})`;

/** Every table with rows of a run but `hitl_decisions`, what refers to others first. */
const ROWS: readonly (readonly [table: string, where: string])[] = [
  ['hitl_failure_gates', OF_ITS_SESSIONS],
  ['hitl_failure_gates_history', OF_ITS_SESSIONS],
  ['hitl_sessions', OF_RUN],
  ['agent_steps', OF_RUN],
  ['step_transcripts', OF_RUN],
  ['checkpoint_writes', OF_RUN],
  ['checkpoint_blobs', OF_RUN],
  ['checkpoints', OF_RUN],
  ['langgraph_checkpoints', OF_RUN.replaceAll('thread_id', 'graph_id')],
  ['driven_time', OF_RUN],
  ['guard_firings', OF_RUN],
  ['events', OF_RUN],
  ['rewinds', OF_RUN],
  ['signals', OF_RUN],
  ['child_runs', OF_RUN.replaceAll('thread_id', 'child_id')],
  ['waits', OF_RUN],
  ['thread_inputs', OF_RUN],
  ['threads', OF_RUN],
];

/**
 * Deletes a run as a whole, with the runs below it. The lines of the decision log stay, as that is a chain; what was written in its decisions
 * goes, unless another run's decision says the same.
 */
export class RunRemover {
  readonly #db: Database;
  readonly #deletes: readonly Statement<[{ readonly id: string }]>[];
  readonly #children: ChildStore;
  readonly #sessions: HitlSessionStore;
  readonly #texts: DecisionTextStore;
  readonly #sweeper: BlobSweeper;

  /** @param db - An open, migrated state file. */
  constructor(db: Database) {
    this.#db = db;
    this.#deletes = ROWS.map(([table, where]) => prepare(db, `DELETE FROM ${table} WHERE ${where}`));
    this.#children = new ChildStore(db);
    this.#sessions = new HitlSessionStore(db);
    this.#texts = new DecisionTextStore(db);
    this.#sweeper = new BlobSweeper(db);
  }

  /**
   * In the caller's transaction, or its own.
   *
   * @throws DevsError `LEASE_LOST` for a holder that was replaced; `REMOVE_REFUSED` while a run below has not ended, or
   *   the parent has not, which would begin it anew. Nothing is deleted then.
   */
  remove(lease: FencedLease): Swept {
    const { threadId } = lease;
    return immediately(this.#db, () => {
      leaseFence(this.#db, lease).assertInTx();
      const [open] = this.#children.openBelow(threadId);
      if (open !== undefined) throw refused(threadId, `its child "${open}" has not ended`, 'child_not_ended');
      const [parent] = this.#children.openParentOf(threadId);
      if (parent !== undefined)
        throw refused(threadId, `its parent "${parent}" has not ended`, 'parent_not_ended');
      for (const id of [...this.#children.below(threadId), threadId])
        for (const each of this.#deletes) each.run({ id });
      this.#texts.dropAllBut(new Set(this.#textsInUse()));
      return this.#sweeper.sweepAll();
    });
  }

  /** Deletes values that nothing refers to, of any run. */
  sweep(): Swept {
    return immediately(this.#db, () => this.#sweeper.sweepAll());
  }

  #textsInUse(): readonly string[] {
    return this.#sessions.listAnswered().flatMap((session) => [...referringBody(session).texts.keys()]);
  }
}

const refused = (id: string, why: string, reason: string): DevsError =>
  new DevsError(`Run "${id}" is not removed: ${why}.`, {
    code: 'REMOVE_REFUSED',
    remedy: 'Cancel that run or drive it to its end first.',
    context: { id, reason },
  });
