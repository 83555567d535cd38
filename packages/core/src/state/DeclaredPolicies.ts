import type { Database, Statement } from 'better-sqlite3';
import { prepare } from '../db/prepare.ts';
import { parseStored } from './parseStored.ts';
import { SELECT_DECLARED, SELECT_POLICY } from './threadSql.ts';

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
