import { ambientConfig } from '../execution/ambientConfig.ts';

// A task's namespace is the way to it: `agent:UUID|tools:UUID`, and a bare number for the further graphs of a task.

/** The namespace of the task around this code; `null` outside of one. */
export function taskNsHere(): string | null {
  const { checkpoint_ns: ns, __pregel_task_id: id } = ambientConfig()?.configurable ?? {};
  return typeof ns === 'string' && ns !== '' && id !== undefined ? ns : null;
}

/** Something that tells the same when it runs again. */
export interface Teller {
  readonly id: string;
  /** From 1: what it told in the attempt before, it tells again. */
  readonly attempt: number;
}

/** Tells the place in a node around this code; `null` outside of a node, as on an edge. */
export type PlaceHere = () => Teller | null;

/** The graph that a task belongs to. */
export const graphNsOf = (taskNs: string): string => taskNs.split('|').slice(0, -1).join('|');

/** The id of the run's own task that this is in, or is. */
export const ownTaskOf = (taskNs: string): string => taskNs.split('|', 1)[0]?.split(':')[1] ?? '';

/**
 * The innermost task on the way that has the same id after a restart: one of a graph that keeps checkpoints, in graphs that
 * all do. A graph without them begins anew, with other ids, when the task around it runs again.
 *
 * @param keeps - Whether the graph of a namespace keeps checkpoints.
 */
export function lastingTask(taskNs: string, keeps: (graphNs: string) => boolean): Teller {
  const segments = taskNs.split('|');
  let id = segments[0] ?? '';
  for (let at = 1; at < segments.length; at += 1) {
    if (!segments[at]?.includes(':')) continue;
    if (!keeps(segments.slice(0, at).join('|'))) break;
    id = segments.slice(0, at + 1).join('|');
  }
  return { id, attempt: 1 };
}
