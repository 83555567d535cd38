import type { EngineStore } from '../../engine/EngineStore.ts';
import { PACK_PART_BYTES } from '../../state/GitPackStore.ts';
import type { GitPack, GitRecord, GitStand, OpenOptions, RunWorkspace, Workspace } from '../ports.ts';

/** The workspace for runs whose files travel: what git holds of them is in the file that is driven. */
export function travelling(workspace: Workspace, store: EngineStore): Workspace {
  return {
    dirOf: (id) => workspace.dirOf(id),
    open: (id: string, options: OpenOptions = {}): Promise<RunWorkspace> =>
      workspace.open(id, { ...options, record: gitRecord(id, store) }),
    ...(workspace.assertUsable && { assertUsable: () => workspace.assertUsable?.() ?? Promise.resolve() }),
    ...(workspace.readAt && { readAt: workspace.readAt.bind(workspace) }),
    ...(workspace.remove && { remove: workspace.remove.bind(workspace) }),
    ...(workspace.leave && { leave: workspace.leave.bind(workspace) }),
  };
}

/** What git holds of a run, in the state file. */
export function gitRecord(threadId: string, store: EngineStore): GitRecord {
  const { gitPacks } = store;
  return {
    stand: () => gitPacks.standOf(threadId),
    packs: () => gitPacks.list(threadId),
    bytesOf: (pack) => gitPacks.bytesOf(threadId, pack),
    record: (stand, pack) => record(threadId, { stand, pack }, store),
    arrived: async () => void (await store.outlet.arrived()),
  };
}

/** The last part of a pack, and with it the pack, is in one commit with where git stands; those before it go ahead. */
async function record(
  threadId: string,
  { stand, pack }: { readonly stand: GitStand; readonly pack: GitPack | null },
  store: EngineStore,
): Promise<void> {
  const { gitPacks } = store;
  const parts = pack === null ? 0 : Math.ceil(pack.bytes.length / PACK_PART_BYTES);
  let number = 0;
  for (let part = 0; pack !== null && part < parts - 1; part += 1) {
    store.commit(() => {
      if (part === 0) number = gitPacks.begin(threadId);
      gitPacks.putPart(threadId, { pack: number, part }, pack);
    });
    await store.outlet.arrived();
  }
  store.commit(() => {
    if (parts === 1) number = gitPacks.begin(threadId);
    if (pack !== null) gitPacks.putPart(threadId, { pack: number, part: parts - 1 }, pack);
    gitPacks.putStand(threadId, stand);
  });
}
