import type { Database, Statement } from 'better-sqlite3';
import { prepare } from '../../db/prepare.ts';
import { sha256Hex } from '../../values/canonicalJson.ts';
import type { DecisionTexts } from './decisionLines.ts';

interface TextRow {
  readonly sha256: string;
  readonly text: string;
}

/**
 * Rows of `decision_texts`: what deciders wrote, each text once, by its SHA-256. Lines of the decision log refer to them.
 * A row may be deleted with the last run that needs it; none is edited.
 */
export class DecisionTextStore {
  readonly #selectAll: Statement<[], TextRow>;
  readonly #selectNames: Statement<[], string>;
  readonly #insert: Statement<[TextRow]>;
  readonly #delete: Statement<[string]>;

  /** @param db - An open, migrated state file. */
  constructor(db: Database) {
    this.#selectAll = prepare(db, 'SELECT sha256, text FROM decision_texts');
    this.#selectNames = prepare<[], string>(db, 'SELECT sha256 FROM decision_texts').pluck();
    this.#delete = prepare(db, 'DELETE FROM decision_texts WHERE sha256 = ?');
    this.#insert = prepare(
      db,
      'INSERT INTO decision_texts (sha256, text) VALUES (@sha256, @text) ON CONFLICT (sha256) DO NOTHING',
    );
  }

  /** Keeps the texts of a decision, in the transaction that logs it. */
  keep(texts: DecisionTexts): void {
    for (const [sha256, text] of texts) this.#insert.run({ sha256, text });
  }

  /** Deletes the texts that no decision needs any more. */
  dropAllBut(needed: ReadonlySet<string>): void {
    const unused = this.#selectNames.all().filter((sha256) => !needed.has(sha256));
    for (const sha256 of unused) this.#delete.run(sha256);
  }

  /** Which texts there are, by their SHA-256, and which of them are not what was written. */
  audit(): { readonly kept: ReadonlySet<string>; readonly edited: readonly string[] } {
    const kept = new Set<string>();
    const edited: string[] = [];
    for (const { sha256, text } of this.#selectAll.iterate()) {
      kept.add(sha256);
      if (sha256Hex(text) !== sha256) edited.push(sha256);
    }
    return { kept, edited };
  }
}
