// Makes the state files of a release with the code as it is now, of every kind or of those named.
// Arguments: RELEASE [KIND…]
import { existsSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { packFolder } from './archive.ts';
import { archivePath } from './archivePath.ts';
import { KINDS, kindsOf } from './kinds.ts';
import { isRelease, type Release } from './releases.ts';

async function makeArchive(release: Release, name: string): Promise<void> {
  const path = archivePath(release, name);
  if (existsSync(path)) throw new Error(`${path} is there: what a release has left is never made again.`);
  const dir = mkdtempSync(join(tmpdir(), 'devs-statefile-'));
  await KINDS[name]?.make(dir);
  const archive = packFolder(dir);
  mkdirSync(dirname(path), { recursive: true });
  writeFileSync(path, archive, { flag: 'wx' });
  rmSync(dir, { recursive: true });
  process.stdout.write(`${name} ${archive.length} bytes\n`);
}

const [release, ...named] = process.argv.slice(2);
if (!isRelease(release)) throw new Error(`Expected a release of releases.ts, got ${release}.`);
const kinds = kindsOf(release);
const unknown = named.filter((name) => !kinds.includes(name));
if (unknown.length > 0) throw new Error(`There is no kind ${unknown.join(', ')} in release ${release}.`);
for (const name of named.length === 0 ? kinds : named) await makeArchive(release, name);
