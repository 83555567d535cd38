import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { DevsError } from '@devs/core';
import type { WorkspacePort } from '@devs/core/internal';
import type { GitRepository } from './GitRepository.ts';
import { GitRunWorkspace, type GitRunWorkspaceOptions } from './GitRunWorkspace.ts';
import { BASE, EMPTY_TREE, moveRefs, notTravelling, type RefMove } from './refs.ts';

/** Bytes. A run's file holds them, and travels as a whole. */
const MAX_PACK_BYTES = 64 * 1024 * 1024;

/** So many packs of a level are made one of the next: a machine that knows none of them begins this many processes per level. */
const MERGED = 16;

/** What a pack says that it becomes is not believed: what is large is read in parts, and no part is larger than this. */
const INFLATING = { settings: ['core.bigFileThreshold=64m'], env: { GIT_ALLOC_LIMIT: '512m' } } as const;

const PACK = ['pack-objects', '--stdout', '--quiet', '--delta-base-offset'] as const;

export interface GitTravelOptions {
  readonly git: GitRepository;
  readonly record: WorkspacePort.GitRecord;
  /**
   * Brings a commit that a run began at from where every machine finds it, with its history; `null` where there is no such
   * place: then the commit travels, without its history.
   */
  readonly bringBase: ((commit: string) => Promise<void>) | null;
}

/** What was done in a store. */
export interface GitDeparture {
  /** Of trees and commits that somebody is told of. @defaultValue none but those of the refs and the folder */
  readonly ids?: readonly string[];
  /** Tree of the folder, as in {@link WorkspacePort.GitPosition}. */
  readonly left: string | null;
  readonly hasMovedRefs: boolean;
}

/**
 * The way of a run's objects and refs from the store of one machine to that of another, by the run's record. An object that
 * is in a store has all that it reaches there.
 */
export class GitTravel {
  readonly #git: GitRepository;
  readonly #record: WorkspacePort.GitRecord;
  readonly #bringBase: GitTravelOptions['bringBase'];
  /** Ids that the record has with all that they reach. */
  readonly #known: Set<string>;
  /** As they were read last; `null` where they may have moved since. */
  #refs: WorkspacePort.GitPosition['refs'] | null = null;
  #last: Promise<unknown> = Promise.resolve();

  constructor({ git, record, bringBase }: GitTravelOptions) {
    this.#git = git;
    this.#record = record;
    this.#bringBase = bringBase;
    this.#known = new Set(record.packs().flatMap(({ tips }) => tips));
  }

  /**
   * Makes the store what the record says, whatever another driver of this machine has left there: with all objects, and no
   * other refs.
   *
   * @returns `null` for a run that nothing is recorded of.
   * @throws DevsError `WORKSPACE_FAILED` where objects are missing; `LEASE_LOST` for a driver that was replaced.
   */
  async arrive(): Promise<WorkspacePort.GitPosition | null> {
    const stand = this.#record.stand();
    if (stand === null) return null;
    await this.#bring(stand);
    const here = await this.#readRefs();
    const names = new Set([...Object.keys(here), ...Object.keys(stand.refs)]);
    const moves = [...names].flatMap((name): readonly RefMove[] => {
      const [from = null, to = null] = [here[name], stand.refs[name]];
      return from === to ? [] : [{ name, from, to }];
    });
    if (moves.length > 0) await moveRefs(this.#git, moves);
    return stand;
  }

  /**
   * Records where git stands, with all that this and some ids reach. One after the other.
   *
   * @throws DevsError `VALUE_TOO_LARGE` for more than a record takes.
   */
  depart({ ids = [], left, hasMovedRefs }: GitDeparture): Promise<void> {
    if (hasMovedRefs) this.#refs = null;
    const departed = this.#last.then(() => this.#depart(ids, left));
    this.#last = departed.catch(() => undefined);
    return departed;
  }

  /** See {@link WorkspacePort.GitRecord.arrived}. */
  arrived(): Promise<void> {
    return this.#record.arrived();
  }

  async #bring(stand: WorkspacePort.GitPosition): Promise<void> {
    const packs = this.#record.packs();
    const tips = [...new Set([...packs.flatMap((pack) => pack.tips), ...tipsOf(stand)])];
    const missing = await this.#missing(tips);
    if (missing.size === 0) return;
    const base = stand.refs[BASE];
    if (base !== undefined && missing.has(base)) await this.#bringBase?.(base);
    for (const { pack, tips: reached } of packs) {
      if (!reached.some((tip) => missing.has(tip))) continue;
      const stdin = this.#record.bytesOf(pack);
      await this.#git.run(['index-pack', '--stdin', '--fix-thin'], { stdin, isLarge: true, ...INFLATING });
    }
    if (base !== undefined && this.#known.has(base)) {
      await writeFile(join(this.#git.gitDir, 'shallow'), `${base}\n`);
    }
    const [lost] = await this.#missing(tips);
    if (lost !== undefined) throw lostObject(lost);
  }

  async #depart(ids: readonly string[], left: string | null): Promise<void> {
    this.#refs ??= await this.#readRefs();
    const refs = this.#refs;
    const stand = { refs, left };
    const base = refs[BASE];
    if (base !== undefined && !this.#known.has(base)) await this.#departBase(base);
    const tips = [...new Set([...tipsOf(stand), ...ids])].filter(
      (id) => id !== EMPTY_TREE && !this.#known.has(id),
    );
    const pack = tips.length === 0 ? null : await this.#packOf(tips, this.#known);
    if (pack === null && isSamePosition(stand, this.#record.stand())) return;
    await this.#record.record(stand, pack);
    for (const tip of tips) this.#known.add(tip);
    if (pack !== null) await this.#merge(stand);
  }

  /** A commit that every machine finds elsewhere is known; another one travels with its files and without its history. */
  async #departBase(base: string): Promise<void> {
    this.#known.add(base);
    if (this.#bringBase !== null) return;
    const stdin = await this.#git.run(['rev-list', '--objects', '--no-walk', base]);
    const bytes = await this.#packed(PACK, stdin);
    const stand = this.#record.stand() ?? { refs: {}, left: null };
    await this.#record.record(stand, { tips: [base], bytes, level: 0, replaces: [] });
  }

  async #packOf(tips: readonly string[], known: Iterable<string>): Promise<WorkspacePort.GitPack> {
    const stdin = [...tips, ...[...known].map((id) => `^${id}`)].map((line) => `${line}\n`).join('');
    const bytes = await this.#packed([...PACK, '--revs', '--thin'], stdin);
    return { tips, bytes, level: 0, replaces: [] };
  }

  async #packed(args: readonly string[], stdin: string): Promise<Buffer> {
    const bytes = await this.#git.bytes(args, { stdin, isLarge: true, firstBytes: MAX_PACK_BYTES + 1 });
    if (bytes.length > MAX_PACK_BYTES) throw packTooLarge();
    return bytes;
  }

  /** Nothing is left out: a step may name a tree that no ref reaches. */
  async #merge(stand: WorkspacePort.GitPosition): Promise<void> {
    const packs = this.#record.packs();
    const level = packs.at(-1)?.level ?? 0;
    const merged = packs.slice(packs.findLastIndex((pack) => pack.level > level) + 1);
    if (merged.length < MERGED) return;
    const tips = merged.flatMap((pack) => pack.tips);
    const own = new Set(tips);
    const { bytes } = await this.#packOf(
      tips,
      [...this.#known].filter((id) => !own.has(id)),
    );
    await this.#record.record(stand, { tips, bytes, level: level + 1, replaces: merged.map(packNumber) });
    await this.#merge(stand);
  }

  async #readRefs(): Promise<WorkspacePort.GitPosition['refs']> {
    const format = '--format=%(refname) %(objectname)';
    const listed = await this.#git.run(['for-each-ref', format, '--', 'refs/heads/', 'refs/devs/']);
    const lines = listed.split('\n').filter((line) => line !== '');
    const refs = lines.map((line): readonly [string, string] => [line.slice(0, -41), line.slice(-40)]);
    return Object.fromEntries(refs.filter(([name]) => !notTravelling.has(name)));
  }

  async #missing(ids: readonly string[]): Promise<ReadonlySet<string>> {
    const stdin = ids.map((id) => `${id}\n`).join('');
    const told = await this.#git.run(['cat-file', '--batch-check=%(objectname)'], { stdin });
    return new Set([...told.matchAll(/^([0-9a-f]{40}) missing$/gm)].map(([, id = '']) => id));
  }
}

const packNumber = ({ pack }: WorkspacePort.StoredGitPack): number => pack;

const tipsOf = ({ refs, left }: WorkspacePort.GitPosition): readonly string[] => [
  ...Object.values(refs),
  ...(left === null || left === EMPTY_TREE ? [] : [left]),
];

const isSamePosition = (stand: WorkspacePort.GitPosition, last: WorkspacePort.GitPosition | null): boolean =>
  last !== null && JSON.stringify([stand.refs, stand.left]) === JSON.stringify([last.refs, last.left]);

const packTooLarge = (): DevsError =>
  new DevsError(
    `A change of the run's files is larger than ${MAX_PACK_BYTES} bytes and cannot be stored with the run.`,
    {
      code: 'VALUE_TOO_LARGE',
      remedy: 'Exclude generated and binary files with .gitignore, or execute the run in a local state file.',
      context: { limit: MAX_PACK_BYTES },
    },
  );

const lostObject = (id: string): DevsError =>
  new DevsError(`Git object ${id} of the run is missing from its record and from its repository.`, {
    code: 'WORKSPACE_FAILED',
    remedy: 'Restore the commit that the run started from in its repository, then resume the run.',
    context: { id },
  });

/** A folder and its store whose objects are in the run's record before anybody is told their ids. */
export class TravellingRunWorkspace extends GitRunWorkspace {
  readonly #travel: GitTravel;
  #left: string | null = null;

  constructor({ travel, ...options }: GitRunWorkspaceOptions & { readonly travel: GitTravel }) {
    super(options);
    this.#travel = travel;
  }

  /** Records the folder and the store as they are. */
  async depart(): Promise<void> {
    await this.#departed(await super.left(), true);
  }

  override async snapshot(): Promise<string> {
    const tree = await super.snapshot();
    await this.#departed(tree, false);
    return tree;
  }

  override async restore(tree: string): Promise<WorkspacePort.Rescue | null> {
    const rescue = await super.restore(tree);
    await this.#departed(tree, rescue !== null);
    return rescue;
  }

  override async overlay(base: string, from: string, paths: readonly string[]): Promise<string> {
    const tree = await super.overlay(base, from, paths);
    await this.#travel.depart({ ids: [tree], left: this.#left, hasMovedRefs: false });
    return tree;
  }

  override async commit(request: WorkspacePort.CommitRequest): Promise<string> {
    const commit = await super.commit(request);
    await this.#travel.depart({ left: this.#left, hasMovedRefs: true });
    return commit;
  }

  override async adopt(request: WorkspacePort.AdoptRequest): Promise<WorkspacePort.AdoptedTree | null> {
    const adopted = await super.adopt(request);
    await this.depart();
    return adopted;
  }

  override async sync(recorded?: readonly string[]): Promise<WorkspacePort.Synced | null> {
    const synced = await super.sync(recorded);
    await this.depart();
    return synced;
  }

  override async withdraw(request: WorkspacePort.WithdrawRequest): Promise<WorkspacePort.BranchMove> {
    return this.#computed(await super.withdraw(request));
  }

  override async reinstate(request: WorkspacePort.ReinstateRequest): Promise<WorkspacePort.BranchMove> {
    return this.#computed(await super.reinstate(request));
  }

  override async follow(move: WorkspacePort.BranchMove): Promise<WorkspacePort.Rescue | null> {
    const rescue = await super.follow(move);
    await this.depart();
    return rescue;
  }

  /** What is given to the user's repository can be lost no more. */
  override async deliver(): Promise<WorkspacePort.Delivery | null> {
    await this.#travel.arrived();
    const delivery = await super.deliver();
    await this.#travel.depart({ left: this.#left, hasMovedRefs: true });
    return delivery;
  }

  async #computed(move: WorkspacePort.BranchMove): Promise<WorkspacePort.BranchMove> {
    const ids = [move.from, move.to, move.folder].filter((id) => id !== null);
    await this.#travel.depart({ ids, left: this.#left, hasMovedRefs: false });
    return move;
  }

  async #departed(tree: string, hasMovedRefs: boolean): Promise<void> {
    this.#left = tree;
    await this.#travel.depart({ left: tree, hasMovedRefs });
  }
}
