import type { RunIndex } from '../../engine/runs/Runs.ts';
import type { ListedRun } from '../../engine/runs/standing.ts';
import type { PipelineRunInfo } from '../views.ts';

/** What a list tells of a run that nobody drives, beside what every list has. */
type ListedStatus = Omit<
  PipelineRunInfo,
  'id' | 'title' | 'status' | 'reason' | 'isDriven' | 'driver' | 'running' | 'gates'
>;

/** What runs of the pipeline have, and others have none of. */
const PLAIN = { agents: null, workspace: null, tasks: [], review: null, rewinds: [] } as const;

/** As it is kept beside a run's file, for {@link statusListed}. */
export function listedStatus(status: PipelineRunInfo): ListedRun & ListedStatus {
  const {
    id: _,
    title: __,
    status: ___,
    reason: ____,
    isDriven: _____,
    driver: ______,
    running: _______,
    gates,
    ...listed
  } = status;
  return { as: 1, ...listed };
}

/** The status of a run without its file; `null` where what is kept beside that says nothing, or is of another release. */
export function statusListed(
  id: string,
  { view, title, status, reason, gates }: RunIndex,
): PipelineRunInfo | null {
  if (!isListed(view)) return null;
  const { as: _, ...listed } = view;
  const here = { id, title: title ?? id, status, reason, isDriven: false, driver: null, running: null };
  return { ...here, ...PLAIN, ...listed, gates };
}

const isListed = (view: unknown): view is ListedRun & Partial<ListedStatus> =>
  typeof view === 'object' && view !== null && 'as' in view && view.as === 1 && 'graph' in view;
