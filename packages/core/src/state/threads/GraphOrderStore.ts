import type { Database, Statement } from 'better-sqlite3';
import { TableKnowledge } from '../../db/keptReads.ts';
import { prepare } from '../../db/prepare.ts';

const INSERT = 'INSERT INTO graph_order (fingerprint) VALUES (?) ON CONFLICT DO NOTHING';

const IS_EARLIER = `
  SELECT 1 FROM graph_order AS this JOIN graph_order AS other ON other.fingerprint = @than AND this.seq < other.seq
  WHERE this.fingerprint = @fingerprint`;

/** The graphs of a file by the order in which they came; the one writer of `graph_order`. */
export class GraphOrderStore {
  readonly #insert: Statement<[string]>;
  /** The one that was noted last. */
  readonly #noted: TableKnowledge<string>;
  readonly #isEarlier: Statement<[{ readonly fingerprint: string; readonly than: string }]>;

  constructor(db: Database) {
    this.#insert = prepare(db, INSERT);
    this.#noted = new TableKnowledge(db, ['graph_order']);
    this.#isEarlier = prepare(db, IS_EARLIER);
  }

  /** A graph has a run of the file: in the caller's transaction. */
  note(fingerprint: string): void {
    if (this.#noted.get() === fingerprint) return;
    this.#insert.run(fingerprint);
    this.#noted.set(fingerprint);
  }

  /** Whether a graph came before another one; not where one of them is unknown. */
  isEarlier(fingerprint: string, than: string): boolean {
    return this.#isEarlier.get({ fingerprint, than }) !== undefined;
  }
}
