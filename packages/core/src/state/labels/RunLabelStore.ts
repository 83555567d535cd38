import type { Database } from 'better-sqlite3';
import { prepare } from '../../db/prepare.ts';
import { withinTransaction } from '../commits/immediateTransaction.ts';
import { inheritedLabels, labelsFrom, labelTexts, patchedLabels, type RunLabels } from './runLabels.ts';

const SELECT = 'SELECT label FROM run_labels WHERE thread_id = ? ORDER BY label';

const INSERT = `
  INSERT INTO run_labels (label, created_at, thread_id)
  SELECT @label, created_at, thread_id FROM threads WHERE thread_id = @threadId
  ON CONFLICT DO NOTHING`;

const DELETE = 'DELETE FROM run_labels WHERE thread_id = ?';

/** Rows of `run_labels`: the labels that find runs. */
export class RunLabelStore {
  readonly #db: Database;

  /** @param db - An open, migrated state file. */
  constructor(db: Database) {
    this.#db = db;
  }

  of(threadId: string): RunLabels {
    return labelsFrom(prepare<[string], string>(this.#db, SELECT).pluck().all(threadId));
  }

  /** In the transaction that records the run. */
  insert(threadId: string, labels: RunLabels): void {
    for (const label of labelTexts(labels)) prepare<[object]>(this.#db, INSERT).run({ label, threadId });
  }

  /** Puts members of the metadata in the place of those of the same names. */
  patch(threadId: string, metadata: RunLabels['metadata']): RunLabels {
    return withinTransaction(this.#db, () => {
      const labels = patchedLabels(this.of(threadId), metadata);
      prepare<[string]>(this.#db, DELETE).run(threadId);
      this.insert(threadId, labels);
      return labels;
    });
  }

  /** Gives a child or a fork the labels of the run it comes from; its own go first. */
  inherit(from: string, to: string): void {
    const labels = inheritedLabels(this.of(from), this.of(to));
    prepare<[string]>(this.#db, DELETE).run(to);
    this.insert(to, labels);
  }
}
