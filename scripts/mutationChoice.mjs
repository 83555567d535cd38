// Which rows `verify-spec --mutate --touched --draw N` runs: those whose files a change touches, and some of the others.
import { execFileSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { root } from './ledger.mjs';
import { RECORDED } from './mutations.mjs';

/** Names a commit: what changed since it is touched. */
export const BASE = 'DEVS_MUTATION_BASE';

/** How far back a clone of the main branch itself looks: its commits of a day. In s. */
const DAY_S = 24 * 60 * 60;

/** @returns what git prints, without the line's end; `null` where it cannot tell */
function git(folder, ...args) {
  try {
    const stdio = ['ignore', 'pipe', 'ignore'];
    return execFileSync('git', args, { cwd: folder, encoding: 'utf8', maxBuffer: 2 ** 26, stdio }).trim();
  } catch {
    return null;
  }
}

/** The branch of this change leaves origin/main there; on main itself, the last commit that is a day older than it. */
function baseOf(folder, head) {
  const left = git(folder, 'merge-base', 'origin/main', 'HEAD');
  if (left !== null && left !== head) return left;
  const committed = Number(git(folder, 'show', '--no-patch', '--format=%ct', 'HEAD'));
  const before = git(folder, 'rev-list', '--first-parent', '-1', `--before=${committed - DAY_S}`, 'HEAD');
  // All of it is younger: since the first commit of the clone.
  return before || git(folder, 'rev-list', '--max-parents=0', 'HEAD')?.split('\n')[0];
}

/**
 * What has changed in a checkout, committed or not.
 *
 * @param given names the commit to count from; the branch's, or a day's, when it is empty
 * @returns `{ head, base, files, mutations }`: two commits, paths from the root, and the mutations as they were; all empty
 *   without git
 * @throws TypeError for a `given` that is no commit here
 */
export function changesOf(given = '', folder = root) {
  const head = git(folder, 'rev-parse', 'HEAD');
  if (head === null) return { head: '', base: '', files: [], mutations: {} };
  const base =
    given === '' ? baseOf(folder, head) : git(folder, 'rev-parse', '--verify', `${given}^{commit}`);
  if (base === null) throw new TypeError(`${BASE}: there is no commit ${given} here.`);
  const changed = git(folder, 'diff', '--name-only', '--no-renames', '-z', base) ?? '';
  const added = git(folder, 'ls-files', '--others', '--exclude-standard', '-z') ?? '';
  const files = `${changed}\0${added}`.split('\0').filter((path) => path !== '');
  const { mutations } = JSON.parse(git(folder, 'show', `${base}:${RECORDED}`) ?? '{ "mutations": {} }');
  return { head, base, files, mutations };
}

/** Another order for each seed, the same for the same one. */
function shuffled(rows, seed) {
  const placeOf = ({ entry }) => createHash('sha256').update(`${seed} ${entry.id}`).digest('hex');
  return rows
    .map((row) => ({ row, place: placeOf(row) }))
    .sort((a, b) => (a.place < b.place ? -1 : 1))
    .map(({ row }) => row);
}

/**
 * @param rows `{ entry, mutation }` each
 * @param changes of `changesOf`; its commit seeds the draw, and the choice where too many are touched
 * @param atMost how many are run in all
 * @returns `{ touched, drawn, left }`: ids; those left are touched and not run
 */
export function chooseRows(rows, { head, files, mutations }, { draw, atMost }) {
  const changed = new Set(files);
  const isTouched = ({ entry, mutation }) =>
    [mutation.file, entry.file, entry.testFile].some((path) => changed.has(path)) ||
    JSON.stringify(mutation) !== JSON.stringify(mutations[entry.id] ?? mutation);
  const mixed = shuffled(rows, head);
  const all = mixed.filter(isTouched);
  const touched = all.slice(0, Math.max(0, atMost - draw));
  const drawn = mixed.filter((row) => !isTouched(row)).slice(0, draw);
  const idsOf = (some) => some.map(({ entry }) => entry.id);
  return { touched: idsOf(touched), drawn: idsOf(drawn), left: idsOf(all.slice(touched.length)) };
}
