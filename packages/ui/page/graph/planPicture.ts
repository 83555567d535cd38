import type { PicturedEdge, PicturedNode } from './Pictured.ts';

/** A task as any plan has it: of a gate, where it has no state yet, or of a run. */
export interface PictureTask {
  readonly taskId: string;
  readonly name: string;
  readonly dependsOn: readonly string[];
  readonly status?: string;
}

/** What becomes of tasks when a run is set back. */
export interface Fates {
  readonly target: string;
  readonly undone: ReadonlySet<string>;
}

/** The tasks of a plan as a picture: one after the other where one stands on the other. Pure. */
export function planPicture(
  tasks: readonly PictureTask[],
  labelOf: (taskId: string) => string,
  fates: Fates | null = null,
): { readonly nodes: readonly PicturedNode[]; readonly edges: readonly PicturedEdge[] } {
  const nodes = tasks.map(({ taskId, name, status = 'pending' }) => {
    const node = { id: taskId, label: labelOf(taskId), name, state: status };
    return fates === null ? node : { ...node, fate: fateOf(taskId, fates) };
  });
  const edges = tasks.flatMap(({ taskId, dependsOn }) => dependsOn.map((from) => ({ from, to: taskId })));
  return { nodes, edges };
}

function fateOf(taskId: string, { target, undone }: Fates): 'goes' | 'stays' | 'target' {
  if (undone.has(taskId)) return 'goes';
  return taskId === target ? 'target' : 'stays';
}
