import { getConfig } from '@langchain/langgraph';

// A task's namespace is the way to it: `agent:UUID|tools:UUID`, and a bare number for the further graphs of a task.

/** The namespace of the task around this code; `null` outside of one. */
export function taskNsHere(): string | null {
  const { checkpoint_ns: ns, __pregel_task_id: id } = hereabouts();
  return typeof ns === 'string' && ns !== '' && id !== undefined ? ns : null;
}

/** The graph that a task belongs to. */
export const graphNsOf = (taskNs: string): string => taskNs.split('|').slice(0, -1).join('|');

/**
 * The innermost task on the way that has the same id after a restart: one of a graph that keeps checkpoints, in graphs that
 * all do. A graph without them begins anew, with other ids, when the task around it runs again.
 *
 * @param keeps - Whether the graph of a namespace keeps checkpoints.
 */
export function lastingTask(taskNs: string, keeps: (graphNs: string) => boolean): string {
  const segments = taskNs.split('|');
  let task = segments[0] ?? '';
  for (let at = 1; at < segments.length; at += 1) {
    if (!segments[at]?.includes(':')) continue;
    if (!keeps(segments.slice(0, at).join('|'))) return task;
    task = segments.slice(0, at + 1).join('|');
  }
  return task;
}

/** Whether a task is the run's own task of this id, or inside of it. */
export const isWithin = (taskNs: string, taskId: string): boolean =>
  taskNs.split('|', 1)[0]?.endsWith(`:${taskId}`) === true;

function hereabouts(): Readonly<Record<string, unknown>> {
  // Outside of any graph there is no configuration, whatever the type says.
  const config = getConfig() as ReturnType<typeof getConfig> | undefined;
  return (config?.configurable ?? {}) as Readonly<Record<string, unknown>>;
}
