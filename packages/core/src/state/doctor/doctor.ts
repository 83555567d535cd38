import type { Database } from 'better-sqlite3';
import { checkFile, findingsOrDamage } from '../../db/checkFile.ts';
import { isEncrypted } from '../../db/connect.ts';
import { pendingMigrations } from '../../db/ledger.ts';
import { transaction } from '../../db/prepare.ts';
import { DecisionLog } from '../gates/DecisionLog.ts';
import { damagedCheckpoints, damagedWrites } from './damagedCheckpoints.ts';
import { damagedValues } from './damagedValues.ts';
import { type FileSizes, fileSizes } from './fileSizes.ts';
import { error, type Finding, note } from './finding.ts';
import { damagedRows, orphanRows, unknownWords, unsealedRows, unusedBlobs } from './rowChecks.ts';
import { unrecordedCalls } from './unrecordedCalls.ts';

export type { FileSizes, Finding };

/** Result of {@link doctor}. */
export interface DoctorReport {
  /** True if there is no finding of kind `error`. */
  readonly ok: boolean;
  readonly findings: readonly Finding[];
  /** Whether the file is encrypted; `null` in memory, and for a caller's connection of a driver with ciphers. */
  readonly encrypted: boolean | null;
  /** `null` if the file is too damaged to measure. */
  readonly sizes: FileSizes | null;
}

/**
 * Examines a state file and changes nothing: pages, indexes, foreign keys, the schema, the SHA-256 of every value,
 * missing or swapped rows, and the chain of decisions. It reads one snapshot, so runs can execute meanwhile. A
 * connection of `openReadOnly` is enough.
 *
 * ```ts
 * const { ok, findings } = doctor(openReadOnly({ dbPath: '.devs/state.sqlite' }));
 * ```
 *
 * @throws DevsError `STATE_IO` if the file cannot be read, `SCHEMA_TOO_NEW`, `MIGRATION_EDITED` or `MIGRATION_GAP` for
 *   a foreign history. Damage is a finding, not an error.
 */
export function doctor(db: Database): DoctorReport {
  const findings: Finding[] = [];
  let sizes: FileSizes | null = null;
  const parts: readonly (() => readonly Finding[])[] = [
    () => checkFile(db),
    () => contentFindings(db),
    () => {
      sizes = fileSizes(db);
      return [];
    },
  ];
  const examine = (): readonly Finding[] => {
    for (const part of parts) findings.push(...findingsOrDamage(part));
    return [];
  };
  // In a damaged file even the end of a transaction can fail; what was found until then is kept.
  findings.push(...findingsOrDamage(() => transaction(db, 'deferred', examine)));
  const all = withoutRepetition(findings);
  return {
    ok: all.every(({ severity }) => severity === 'note'),
    findings: all,
    encrypted: isEncrypted(db),
    sizes,
  };
}

const CHECKS = [
  ...[damagedRows, damagedCheckpoints, damagedWrites, damagedValues, unknownWords, orphanRows],
  ...[unusedBlobs, unsealedRows, unrecordedCalls, logFindings],
];

function contentFindings(db: Database): readonly Finding[] {
  const [oldest] = pendingMigrations(db);
  if (oldest !== undefined) {
    const detail = `The file lacks migration ${oldest.name} and later ones, so its content was not checked.`;
    return [note('NOT_EXAMINED', null, detail)];
  }
  return CHECKS.flatMap((check) => findingsOrDamage(() => check(db)));
}

function logFindings(db: Database): readonly Finding[] {
  const verdict = new DecisionLog(db).verify();
  return verdict.ok ? [] : [error('DECISION_LOG_BROKEN', 'hitl_decisions', verdict.reason)];
}

/** One damaged page makes several checks fail with the same words. */
function withoutRepetition(findings: readonly Finding[]): readonly Finding[] {
  return [...new Map(findings.map((finding) => [JSON.stringify(finding), finding])).values()];
}
