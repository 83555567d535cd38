import type { Checkpoint, CheckpointMetadata, PendingWrite } from '@langchain/langgraph-checkpoint';

// What the child stores at each number, so that the parent knows what must be there.

export const CONFIG = { configurable: { thread_id: 'run', checkpoint_ns: '' } };
export const METADATA: CheckpointMetadata = { source: 'loop', step: 0, parents: {} };

/** Checkpoints between two of which the stable channel keeps its version. */
const STABLE_FOR = 7;

/** A growing text (stored as splices), one that changes now and then, and a large one that is always new. */
export function checkpointAt(at: number): { checkpoint: Checkpoint; newVersions: Record<string, number> } {
  const stableVersion = Math.floor((at - 1) / STABLE_FOR) * STABLE_FOR + 1;
  const versions = { grown: at, stable: stableVersion, large: at };
  const { stable, ...changed } = versions;
  return {
    checkpoint: {
      v: 4,
      id: String(at).padStart(9, '0'),
      ts: '',
      channel_values: {
        grown: Array.from(
          { length: at % 60 },
          (_, line) => `line ${line} of ${at - (at % 60)}, and some more of it`,
        ),
        stable: `stable since ${stableVersion} `.repeat(200),
        large: `large at ${at} `.repeat(900),
      },
      channel_versions: versions,
      versions_seen: {},
    },
    newVersions: stable === at ? versions : changed,
  };
}

export function writesAt(at: number): PendingWrite[] {
  return [
    ['grown', `a line for ${at + 1}`],
    ['large', `large at ${at + 1} `.repeat(900)],
  ];
}
