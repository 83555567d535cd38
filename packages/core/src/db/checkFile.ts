import type { Database } from 'better-sqlite3';
import { isDriftRefused, ownerOf, type SchemaDrift, schemaDrift } from './ownSchema.ts';
import { pragma } from './prepare.ts';
import { isUnintelligible, toStatementFault } from './sqliteFault.ts';

/** What is wrong with a state file, for people; `code` is for programs. */
export interface FileFinding {
  readonly code:
    | 'FILE_DAMAGED'
    | 'FOREIGN_KEY_BROKEN'
    | 'SCHEMA_MISSING'
    | 'SCHEMA_CHANGED'
    | 'SCHEMA_FOREIGN'
    | 'NOT_EXAMINED';
  /** A `note` harms nothing. */
  readonly severity: 'error' | 'note';
  /** `null` where it is about the whole file. */
  readonly table: string | null;
  readonly detail: string;
}

interface BrokenReference {
  readonly table: string;
  readonly rowid: number | null;
  readonly parent: string;
}

/**
 * Checks a state file as a database: its pages and indexes, its foreign keys, and its schema against the migrations.
 * Knows nothing of what the rows mean. Only reads; takes time in proportion to the file.
 *
 * @throws DevsError `STATE_IO` if the file cannot be read at all, or as `runMigrations` for its history.
 */
export function checkFile(db: Database): readonly FileFinding[] {
  return [pageFindings, referenceFindings, schemaFindings].flatMap((check) =>
    findingsOrDamage(() => check(db)),
  );
}

/**
 * Runs a check. SQLite gives up on a page it cannot read, and a statement may need a table that is gone: each is a
 * finding too, and the next check may still work.
 */
export function findingsOrDamage<Finding>(
  check: () => readonly Finding[],
): readonly (Finding | FileFinding)[] {
  try {
    return check();
  } catch (error) {
    const finding = findingOf(error);
    if (finding === null) throw error;
    return [finding];
  }
}

function findingOf(error: unknown): FileFinding | null {
  const fault = toStatementFault(error);
  if (fault?.code !== 'STATE_CORRUPT') return null;
  if (!isUnintelligible(fault)) return damage(fault.message);
  const detail = `A part of the file could not be checked: ${(fault.cause as Error).message}.`;
  return { code: 'NOT_EXAMINED', severity: 'error', table: null, detail };
}

function pageFindings(db: Database): readonly FileFinding[] {
  const rows = pragma(db, 'integrity_check') as readonly { readonly integrity_check: string }[];
  return rows
    .map(({ integrity_check: detail }) => detail)
    .filter((detail) => detail !== 'ok')
    .map(damage);
}

function referenceFindings(db: Database): readonly FileFinding[] {
  const rows = pragma(db, 'foreign_key_check') as readonly BrokenReference[];
  return rows.map(({ table, rowid, parent }) => ({
    code: 'FOREIGN_KEY_BROKEN',
    severity: 'error',
    table,
    detail: `${rowid === null ? 'A row' : `Row ${rowid}`} refers to a row of ${parent} that does not exist.`,
  }));
}

function schemaFindings(db: Database): readonly FileFinding[] {
  const owner = ownerOf(db);
  return schemaDrift(db).map((drift) => {
    const [code, what] = DRIFT[drift.kind];
    const { type, name, table, mend } = drift;
    const isError = drift.kind === 'missing' || isDriftRefused(drift, owner);
    const how = isError && mend !== null ? ` ${mend}` : '';
    return {
      code,
      severity: isError ? 'error' : 'note',
      table,
      detail: `The ${type} ${name} ${what}.${how}`,
    };
  });
}

const DRIFT: Readonly<Record<SchemaDrift['kind'], readonly [code: FileFinding['code'], what: string]>> = {
  missing: ['SCHEMA_MISSING', 'is missing'],
  changed: ['SCHEMA_CHANGED', 'differs from the migrations'],
  foreign: ['SCHEMA_FOREIGN', 'was not created by devs'],
};

function damage(detail: string): FileFinding {
  return { code: 'FILE_DAMAGED', severity: 'error', table: null, detail };
}
