import type { CommitBarrier } from './CommitBarrier.ts';
import {
  type GitPack,
  type GitPackStore,
  type GitPosition,
  PACK_PART_BYTES,
  type StoredGitPack,
} from './GitPackStore.ts';

/**
 * What git holds of a run, kept in the run's record: for drivers on machines that share nothing else. A row that names an id
 * is written after this has what the id reaches.
 */
export interface GitRecord {
  /** As it was recorded last; `null` before. */
  stand(): GitPosition | null;
  /** Oldest first. */
  packs(): readonly StoredGitPack[];
  bytesOf(pack: number): Uint8Array;
  /** Resolves when it is written; a large pack goes in parts, and counts with the last. */
  record(stand: GitPosition, pack: GitPack | null): Promise<void>;
  /** Resolves when all that was recorded can be lost no more (law L11). */
  arrived(): Promise<void>;
}

/** What it is kept in: a state file. */
export interface RecordedFile {
  readonly gitPacks: GitPackStore;
  readonly outlet: Pick<CommitBarrier, 'pending'>;
  /** Runs `work` in one write transaction. */
  commit(work: () => void): void;
}

/** What git holds of a run, in the state file. */
export function gitRecord(threadId: string, store: RecordedFile): GitRecord {
  const { gitPacks } = store;
  return {
    stand: () => gitPacks.standOf(threadId),
    packs: () => gitPacks.list(threadId),
    bytesOf: (pack) => gitPacks.bytesOf(threadId, pack),
    record: (stand, pack) => recordGit(threadId, { stand, pack }, store),
    arrived: async () => void (await store.outlet.pending()),
  };
}

/** The last part of a pack, and with it the pack, is in one commit with where git stands; those before it go ahead. */
async function recordGit(
  threadId: string,
  { stand, pack }: { readonly stand: GitPosition; readonly pack: GitPack | null },
  store: RecordedFile,
): Promise<void> {
  const { gitPacks } = store;
  const parts = pack === null ? 0 : Math.ceil(pack.bytes.length / PACK_PART_BYTES);
  let number = 0;
  for (let part = 0; pack !== null && part < parts - 1; part += 1) {
    store.commit(() => {
      if (part === 0) number = gitPacks.begin(threadId);
      gitPacks.putPart(threadId, { pack: number, part }, pack);
    });
    await store.outlet.pending();
  }
  store.commit(() => {
    if (parts === 1) number = gitPacks.begin(threadId);
    if (pack !== null) gitPacks.putPart(threadId, { pack: number, part: parts - 1 }, pack);
    gitPacks.putStand(threadId, stand);
  });
}
