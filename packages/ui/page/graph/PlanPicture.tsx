import { taskTag } from '../words.ts';
import { GraphPicture } from './GraphPicture.tsx';
import { type Fates, type PictureTask, planPicture } from './pictures.ts';

/** The tasks of a plan and what stands on what; nothing for a plan of one. */
export function PlanPicture({
  tasks,
  fates = null,
  isNewEdge,
  selected,
  onSelect,
}: {
  readonly tasks: readonly PictureTask[];
  readonly fates?: Fates | null;
  readonly isNewEdge?: (from: string, to: string) => boolean;
  readonly selected?: string | null;
  readonly onSelect?: (taskId: string) => void;
}) {
  if (tasks.length < 2) return null;
  const picture = planPicture(tasks, taskTag, fates, isNewEdge);
  return (
    <GraphPicture
      title="The plan and its dependencies"
      {...picture}
      {...(selected !== undefined && { selected })}
      {...(onSelect && { onSelect })}
    />
  );
}
