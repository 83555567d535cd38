import type { Database } from 'better-sqlite3';
import { isBusy, whenFree } from './busy.ts';
import { isInUseHere, stateBusy } from './clearLog.ts';
import { execute, pragma, pragmaValue, prepare, transaction } from './prepare.ts';

/** Bytes a second that are rewritten at least, on a slow disk. */
const BYTES_PER_SECOND = 40_000_000;

/** A larger file is rewritten once and then made smaller step by step. */
const GRADUAL_BYTES = 64 * 1024 * 1024;

const INCREMENTAL = 2;

/** Pages that one transaction gives back. */
const PAGES = 500;

/** A release without `secure_delete` has written to the file: deleted bytes may be on any page. */
const IS_UNCLEAN = 'SELECT 1 FROM file_residue';

/** How much of a file is used. */
export interface FileUse {
  readonly fileBytes: number;
  readonly freeBytes: number;
  /** Whether pages may have bytes that an earlier release deleted. */
  readonly hasResidue: boolean;
  /** How long a rewrite may take, ms. */
  readonly rewriteMs: number;
}

/** Pages as SQLite counts them, the log included. */
export function fileUse(db: Database): FileUse {
  const pageSize = Number(pragmaValue(db, 'page_size'));
  const fileBytes = Number(pragmaValue(db, 'page_count')) * pageSize;
  return {
    fileBytes,
    freeBytes: Number(pragmaValue(db, 'freelist_count')) * pageSize,
    hasResidue: prepare(db, IS_UNCLEAN).get() !== undefined,
    rewriteMs: Math.ceil((fileBytes / BYTES_PER_SECOND) * 1000),
  };
}

/** Whether free pages are given back a few at a time. */
export const isGradual = (db: Database): boolean => pragmaValue(db, 'auto_vacuum') === INCREMENTAL;

/** Gives back some free pages, in one transaction. */
export function giveBackPages(db: Database, waitMs: number): Promise<void> {
  return ifFree(db, waitMs, () => pragma(db, `incremental_vacuum(${PAGES})`));
}

/**
 * Writes every page again, in one transaction: others wait to write meanwhile. Deleted bytes are gone then.
 *
 * @throws DevsError `STATE_BUSY` while somebody else writes, or this connection reads; storage faults. The file is as it was.
 */
export async function rewriteFile(db: Database, waitMs: number): Promise<void> {
  const { fileBytes, freeBytes } = fileUse(db);
  if (fileBytes - freeBytes > GRADUAL_BYTES) pragma(db, 'auto_vacuum = INCREMENTAL');
  await ifFree(db, waitMs, () => execute(db, 'VACUUM'));
  await ifFree(db, waitMs, () => execute(db, 'DELETE FROM file_residue'));
}

/**
 * Does `work` when the file is free; the event loop turns meanwhile.
 *
 * @throws DevsError `STATE_BUSY` if another process writes for longer; errors of `work`.
 */
export async function ifFree(db: Database, forMs: number, work: () => unknown): Promise<void> {
  try {
    await whenFree(db, () => transaction(db, 'immediate', () => undefined), { forMs });
    await whenFree(db, work, { forMs });
  } catch (error) {
    throw isBusy(error) || isInUseHere(error) || isInUseHere((error as Error).cause)
      ? stateBusy('it', db.name)
      : error;
  }
}
