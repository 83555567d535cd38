import { createHash } from 'node:crypto';
import { readdir, readFile, realpath, stat } from 'node:fs/promises';
import { delimiter, join } from 'node:path';
import type { OutsideEntry } from './outsideFiles.ts';
import { type SharedCopy, USED } from './SetupCopy.ts';
import { SetupStore } from './SetupStore.ts';

/** Copies that stay though no run uses them, by last use. */
const NEWEST = 4;

/** Milliseconds: what is younger may be the work of a process that goes on. */
const YOUNG_MS = 3_600_000;

/** Where package managers put what a lockfile names, and nothing that is built of the project. */
const DEPENDENCIES = /(?:^|\/)(?:node_modules|\.venv|\.pnpm-store)(?:\/|$)/;

export interface SharedSetupOptions {
  /** The project folder. */
  readonly dir: string;
  /** What setup runs. */
  readonly argv: readonly string[];
}

/** What the trees and inputs of setup are that a copy is looked for or made of. */
export interface SetupSubject {
  /** What the tree has of the inputs of setup, as one text. */
  readonly inputs: string;
  readonly tree: string;
}

/**
 * What setup leaves, kept once for all runs of a project: in `.devs/setup`, which sandboxes do not show. Dependencies go by
 * the inputs of setup; where it leaves anything else, such as a build, the copy is for that very tree.
 */
export class SharedSetup {
  readonly #options: SharedSetupOptions;
  readonly #store: SetupStore;

  constructor(options: SharedSetupOptions) {
    this.#options = options;
    this.#store = new SetupStore(join(options.dir, '.devs', 'setup'));
  }

  /** Where a copy may be, the likelier place first. */
  async placesOf({ inputs, tree }: SetupSubject): Promise<readonly [SharedCopy, SharedCopy]> {
    const { dir, argv } = this.#options;
    const { platform, arch, version } = process;
    const key = jsonHash([inputs, argv, dir, platform, arch, version, await nodeOnPath()]);
    return [
      { store: this.#store, key },
      { store: this.#store, key: jsonHash([key, tree]) },
    ];
  }

  /** The place for what setup left. */
  async placeFor(subject: SetupSubject, left: readonly OutsideEntry[]): Promise<SharedCopy> {
    const [byInputs, byTree] = await this.placesOf(subject);
    return left.every(({ path }) => DEPENDENCIES.test(path)) ? byInputs : byTree;
  }

  async forget(): Promise<void> {
    const inUse = await copiesInUse(this.#options.dir);
    await this.#store.forget({ newest: NEWEST, inUse, youngMs: YOUNG_MS });
  }
}

/** Deletes the copies that no folder of a run was given last. */
export async function sweepSharedSetups(dir: string): Promise<void> {
  const inUse = await copiesInUse(dir);
  await new SetupStore(join(dir, '.devs', 'setup')).forget({ newest: 0, inUse, youngMs: YOUNG_MS });
}

async function copiesInUse(dir: string): Promise<ReadonlySet<string>> {
  const stores = join(dir, '.devs', 'git');
  const folders = await Promise.all(
    (await folderNames(stores)).map(async (store) => {
      const kept = join(stores, store, 'devs-folders');
      return (await folderNames(kept)).map((folder) => join(kept, folder, 'setup', USED));
    }),
  );
  const used = await Promise.all(folders.flat().map((file) => readFile(file, 'utf8').catch(() => '')));
  return new Set(used);
}

const folderNames = (dir: string): Promise<readonly string[]> => readdir(dir).catch(() => []);

/** What native modules are built for. A program that was replaced is another one. */
async function nodeOnPath(): Promise<string> {
  for (const folder of (process.env['PATH'] ?? '').split(delimiter)) {
    const file = await realpath(join(folder, 'node')).catch(() => null);
    const found = file === null ? null : await stat(file).catch(() => null);
    if (found?.isFile()) return `${file} ${found.size} ${found.mtimeMs}`;
  }
  return '';
}

const jsonHash = (value: unknown): string => createHash('sha256').update(JSON.stringify(value)).digest('hex');
