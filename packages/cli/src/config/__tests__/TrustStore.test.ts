import {
  chmodSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  realpathSync,
  renameSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { TrustStore } from '../TrustStore.ts';

const [ONE, OTHER] = ['1'.repeat(64), '2'.repeat(64)];

let base: string;
let project: string;
let store: TrustStore;

beforeEach(() => {
  base = realpathSync(mkdtempSync(path.join(tmpdir(), 'devs-trust-')));
  project = path.join(base, 'project');
  mkdirSync(project);
  store = TrustStore.of({ XDG_STATE_HOME: path.join(base, 'state') }) as TrustStore;
});

afterEach(() => {
  vi.restoreAllMocks();
  rmSync(base, { recursive: true, force: true });
});

const modeOf = (file: string): number => statSync(file).mode & 0o777;
const refusal = { code: 'CONFIG_INVALID', message: expect.stringContaining('trust.json') };

describe('what a user has accepted', () => {
  it('is kept where only that user can write, whole or not at all', async () => {
    const before = process.umask(0);
    try {
      await store.accept(project, ONE);
    } finally {
      process.umask(before);
    }
    await store.accept(project, OTHER);
    expect(await store.acceptedIn(project)).toEqual([ONE, OTHER]);
    expect(modeOf(store.file)).toBe(0o600);
    expect(modeOf(path.dirname(store.file))).toBe(0o700);
    expect(readdirSync(path.dirname(store.file))).toEqual(['trust.json']);
  });

  it('is kept of everybody who accepts at once', async () => {
    const hashes = Array.from({ length: 12 }, (_, at) => `${at}`.padStart(64, 'a'));
    await Promise.all(hashes.map((hash) => store.accept(project, hash)));
    expect((await store.acceptedIn(project)).toSorted()).toEqual(hashes.toSorted());
    expect(readdirSync(path.dirname(store.file))).toEqual(['trust.json']);
  });

  it('is not held up for ever by one that died while it wrote', async () => {
    await store.accept(project, ONE);
    writeFileSync(`${store.file}.lock`, '');
    const now = Date.now();
    vi.spyOn(Date, 'now').mockImplementation(() => performance.now() * 1_000 + now);
    await store.accept(project, OTHER);
    expect(await store.acceptedIn(project)).toEqual([ONE, OTHER]);
  });

  it('is of a place: the same content elsewhere is asked again, the same place by another way is not', async () => {
    await store.accept(project, ONE);
    symlinkSync(project, path.join(base, 'link'));
    expect(await store.acceptedIn(path.join(base, 'link'))).toEqual([ONE]);
    renameSync(project, path.join(base, 'moved'));
    expect(await store.acceptedIn(path.join(base, 'moved'))).toEqual([]);
  });

  it('can be taken back', async () => {
    await store.accept(project, ONE);
    await store.accept(base, OTHER);
    expect(await store.revoke(project)).toBe(1);
    expect(await store.revoke(project)).toBe(0);
    expect(await store.acceptedIn(project)).toEqual([]);
    expect(await store.acceptedIn(base)).toEqual([OTHER]);
  });

  it.each([
    ['a file that a group can write', () => chmodSync(store.file, 0o620)],
    ['a file that everybody can write', () => chmodSync(store.file, 0o602)],
    ['a folder that everybody can write', () => chmodSync(path.dirname(store.file), 0o777)],
    [
      'a link to a file',
      () => {
        renameSync(store.file, path.join(base, 'elsewhere.json'));
        symlinkSync(path.join(base, 'elsewhere.json'), store.file);
      },
    ],
    ['a file of another user', () => vi.spyOn(process, 'getuid').mockReturnValue(4_242)],
    ['what is no such list', () => writeFileSync(store.file, '{ "accepted": "all" }')],
    ['an acceptance of nothing', () => writeFileSync(store.file, '{"version":1,"accepted":{"/":["*"]}}')],
    [
      'a folder of its name',
      () => {
        rmSync(store.file);
        mkdirSync(store.file);
      },
    ],
  ])('is refused from %s, and nothing is added to it', async (_name, change) => {
    await store.accept(project, ONE);
    change();
    await expect(store.acceptedIn(project)).rejects.toMatchObject(refusal);
    await expect(store.accept(project, OTHER)).rejects.toMatchObject(refusal);
  });

  it('is not written into a folder in which others can write', async () => {
    mkdirSync(path.dirname(store.file), { recursive: true });
    chmodSync(path.dirname(store.file), 0o777);
    await expect(store.accept(project, ONE)).rejects.toMatchObject(refusal);
    expect(readdirSync(path.dirname(store.file))).toEqual([]);
  });

  it('takes no name of a folder for a property', async () => {
    await store.accept(project, ONE);
    const text = readFileSync(store.file, 'utf8');
    expect(JSON.parse(text)).toEqual({
      version: 1,
      accepted: { [path.join(project, '.devs', 'config.json')]: [ONE] },
    });
  });

  it.each([
    [{ XDG_STATE_HOME: '/s', HOME: '/h' }, '/s/devs/trust.json'],
    [{ XDG_STATE_HOME: 's', HOME: '/h' }, '/h/.local/state/devs/trust.json'],
    [{ XDG_STATE_HOME: '', HOME: '/h' }, '/h/.local/state/devs/trust.json'],
  ])('lies where %j says', (env, file) => expect(TrustStore.of(env)?.file).toBe(file));

  it.each([{}, { HOME: '' }, { HOME: '.' }])('has no place in %j', (env) =>
    expect(TrustStore.of(env)).toBeNull(),
  );
});
