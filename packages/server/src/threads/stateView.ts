import { isDeepStrictEqual } from 'node:util';
import { type Gate, gateInterrupt } from '@devs/core';
import type { ServedApp } from '../apps/ServedApp.ts';

type Snapshot = Awaited<ReturnType<ServedApp['getState']>>;
type SnapshotTask = Snapshot['tasks'][number];

/** A position of a thread as LangGraph's clients read it. */
export interface CheckpointView {
  readonly thread_id: string;
  readonly checkpoint_id: string;
  readonly checkpoint_ns: string;
  readonly checkpoint_map: unknown;
}

/**
 * A snapshot as LangGraph's clients read it. Its interrupts are the open gates: an answer to one is valid for its content.
 */
export function stateView(snapshot: Snapshot, gates: readonly Gate[]): object {
  return {
    values: snapshot.values,
    next: snapshot.next,
    tasks: snapshot.tasks.map((task) => taskView(task, gates)),
    metadata: snapshot.metadata,
    created_at: snapshot.createdAt ?? null,
    checkpoint: checkpointView(snapshot.config),
    parent_checkpoint: checkpointView(snapshot.parentConfig),
    interrupts: gates.map(gateInterrupt),
  };
}

function taskView(task: SnapshotTask, gates: readonly Gate[]): object {
  const { id, name, error, interrupts, path, state, result } = task as SnapshotTask & {
    readonly result?: unknown;
  };
  return {
    ...{ id, name, path },
    error: error === undefined || error === null ? null : messageOf(error),
    interrupts: (interrupts ?? []).flatMap(({ value }) => interruptOf(value, gates)),
    checkpoint: state !== undefined && 'configurable' in state ? (state.configurable ?? null) : null,
    state: isSnapshot(state) ? stateView(state, gates) : null,
    result: result ?? null,
  };
}

/** The open gate that a question became; an empty list if it was answered. */
function interruptOf(value: unknown, gates: readonly Gate[]): readonly Interrupt[] {
  const hash = (value as { readonly artifactHash?: unknown } | null)?.artifactHash;
  const gate = gates.find(({ artifactHash, artifact, kind }) =>
    kind === 'interrupt' ? isDeepStrictEqual(artifact, value) : artifactHash === hash,
  );
  return gate === undefined ? [] : [gateInterrupt(gate)];
}

type Interrupt = ReturnType<typeof gateInterrupt>;

/** The open questions of each task that has some, also of tasks in subgraphs. */
export function taskInterrupts(
  { tasks }: Snapshot,
  gates: readonly Gate[],
): readonly (readonly [task: string, interrupts: readonly Interrupt[]])[] {
  return tasks.flatMap(({ id, interrupts, state }) => {
    const inner = isSnapshot(state) ? taskInterrupts(state, gates) : [];
    const own = (interrupts ?? []).flatMap(({ value }) => interruptOf(value, gates));
    return inner.length > 0 || own.length === 0 ? inner : [[id, own] as const];
  });
}

const isSnapshot = (state: unknown): state is Snapshot =>
  typeof state === 'object' && state !== null && 'values' in state && 'tasks' in state;

const messageOf = (error: unknown): string => {
  const { message } = error as { readonly message?: unknown };
  return typeof message === 'string' ? message : String(error);
};

/** `null` before the first checkpoint. */
export function checkpointView(config: Snapshot['config'] | undefined): CheckpointView | null {
  const at = (config?.configurable ?? {}) as Readonly<Record<string, unknown>>;
  const { thread_id, checkpoint_id, checkpoint_ns, checkpoint_map } = at;
  if (typeof thread_id !== 'string' || typeof checkpoint_id !== 'string') return null;
  const ns = typeof checkpoint_ns === 'string' ? checkpoint_ns : '';
  return { thread_id, checkpoint_id, checkpoint_ns: ns, checkpoint_map: checkpoint_map ?? null };
}

/** `undefined` before the first checkpoint. */
export async function latestCheckpointId(app: ServedApp, thread: string): Promise<string | undefined> {
  return checkpointView((await app.getState(thread)).config)?.checkpoint_id;
}
