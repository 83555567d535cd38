import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { basename, join } from 'node:path';
import { createDatabase, doctor } from '@devs/core/state';
import { afterAll, describe, expect, it, test } from 'vitest';
import { howMany } from '../../../core/test/support/howMany.ts';
import { unpackFolder } from './archive.ts';
import { ARCHIVES, archivePath } from './archivePath.ts';
import { KINDS, kindsOf } from './kinds.ts';
import { Ledger } from './Ledger.ts';
import { stateFileIn } from './OpenRun.ts';
import { reviewedFirst } from './pipeline.ts';
import { RELEASES, type Release } from './releases.ts';
import type { StateFileKind } from './StateFileKind.ts';

/** Of releases but the last, every so-many-th kind. */
const EVERY = howMany('DEVS_STATEFILES_EVERY', 4);

const resumedOf = (release: Release): readonly string[] =>
  kindsOf(release).filter((_, at) => release === RELEASES.at(-1) || at % EVERY === 0);

const root = mkdtempSync(join(tmpdir(), 'devs-statefiles-'));

afterAll(() => rmSync(root, { recursive: true, force: true }));

/** A run as a release left it, in a folder it has never been in. */
function unpacked(release: Release, name: string): string {
  const dir = mkdtempSync(join(root, `${name}-`));
  unpackFolder(readFileSync(archivePath(release, name)), dir);
  return dir;
}

function kindOf(name: string): StateFileKind {
  const kind = KINDS[name];
  if (kind === undefined) throw new RangeError(`There is no kind ${name}.`);
  return kind;
}

/** Every table, index and trigger, and the migrations that made them. */
function schemaOf(dbPath: string) {
  const db = createDatabase({ dbPath });
  const objects = db.prepare('SELECT type, name, sql FROM sqlite_schema ORDER BY type, name').all();
  const migrations = db.prepare('SELECT version, name, sha256 FROM schema_migrations ORDER BY version').all();
  const { ok, findings } = doctor(db);
  db.close();
  // Rows of an earlier release have no sums, and get none.
  return { objects, migrations, ok, findings: findings.filter(({ code }) => code !== 'ROW_UNSEALED') };
}

/** Keys of calls that were made more than once. */
function madeAgain(ledger: Ledger): readonly string[] {
  const entries = ledger.entries();
  const keys = entries.map(({ key }) => key);
  return entries.filter(({ key }, at) => keys.indexOf(key) !== at).map(({ what }) => what);
}

const today = schemaOf(stateFileIn(mkdtempSync(join(root, 'today-'))));

describe.for(RELEASES)('a state file of release %s', (release) => {
  it('is there for every kind of waiting', () => {
    const files = readdirSync(join(ARCHIVES, release)).sort();
    expect(files).toEqual(
      kindsOf(release)
        .map((name) => basename(archivePath(release, name)))
        .sort(),
    );
  });

  test.concurrent.for(resumedOf(release))(
    'that waits as "%s" goes on to its end, and no recorded call is made again',
    { timeout: 120_000 },
    async (name, { expect }) => {
      const kind = kindOf(name);
      const dir = unpacked(release, name);
      const ledger = new Ledger(dir);
      const before = ledger.entries();
      const hasLog = existsSync(`${stateFileIn(dir)}-wal`);
      expect(hasLog, 'a killed process leaves its write-ahead log').toBe(kind.driveToDeath !== undefined);

      const { calls, ...resumed } = { ...kind.resumed, calls: kind.calls, ...kind.earlier?.[release] };
      expect(await kind.resume(dir)).toEqual(resumed);
      expect(ledger.entries().slice(0, before.length)).toEqual(before);
      expect(reviewedFirst(ledger.entries().map(({ what }) => what))).toEqual(calls);
      expect(madeAgain(ledger)).toEqual(kind.madeAgain === undefined ? [] : [kind.madeAgain]);
      expect(schemaOf(stateFileIn(dir))).toEqual(today);

      const made = ledger.entries();
      expect(await kind.resume(dir)).toEqual({ ...resumed, answered: [] });
      expect(ledger.entries()).toEqual(made);
    },
  );
});

it('is kept for every release, and for nothing else', () => {
  expect(readdirSync(ARCHIVES).sort()).toEqual([...RELEASES].sort());
});
