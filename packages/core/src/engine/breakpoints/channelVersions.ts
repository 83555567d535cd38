import type { CheckpointTuple } from '@langchain/langgraph-checkpoint';

/** Never in the file: a channel that no graph has. */
const UNSEEN = '__unseen__';

/** The checkpoint as one that LangGraph has not stopped at. */
export function withUnseenVersions(tuple: CheckpointTuple): CheckpointTuple {
  const { checkpoint } = tuple;
  const channel_versions = { ...checkpoint.channel_versions, [UNSEEN]: 1 };
  return { ...tuple, checkpoint: { ...checkpoint, channel_versions } };
}

/** What of it is stored. */
export function withoutUnseenVersions<Versions extends Readonly<Record<string, unknown>>>(
  versions: Versions,
): Versions {
  if (!Object.hasOwn(versions, UNSEEN)) return versions;
  const { [UNSEEN]: _mark, ...stored } = versions;
  return stored as unknown as Versions;
}
