import type { Database, Statement } from 'better-sqlite3';
import { prepare } from './prepare.ts';

/** Statements of one table that most runs never need: each is prepared when it is first used. */
export class LateStatements {
  readonly #db: Database;
  readonly #prepared = new Map<string, Statement<[object]>>();

  /** @param db - An open, migrated state file. */
  constructor(db: Database) {
    this.#db = db;
  }

  /** As `prepare`. @param sql - Takes named parameters. */
  of<Row = unknown>(sql: string): Statement<[object], Row> {
    const known = this.#prepared.get(sql) ?? prepare<[object]>(this.#db, sql);
    this.#prepared.set(sql, known);
    return known as Statement<[object], Row>;
  }
}
