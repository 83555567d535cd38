import type { Activity } from '../../events/Activity.ts';
import type { StepKey } from '../../state/stepRecords.ts';
import type { NodeExecution } from '../nodeExecution.ts';
import { type ActivityDeps, StepActivities } from './StepActivities.ts';

export interface NodeActivityDeps extends Omit<ActivityDeps, 'at'> {
  readonly visit: NodeExecution;
  readonly taskId: string | null;
  /** Milliseconds since the Unix epoch. */
  readonly now: () => number;
}

/** The name under which is kept what a node tells outside of its steps. */
const PREPARE = 'prepare';

/** What a visit of a node tells: each step's own, and what belongs to none. */
export class NodeActivities {
  readonly #deps: NodeActivityDeps;
  readonly #steps: StepActivities[] = [];
  #own: StepActivities | null = null;

  constructor(deps: NodeActivityDeps) {
    this.#deps = deps;
  }

  begin(step: StepKey, attempt: number): StepActivities {
    const begun = this.#activitiesOf(step, attempt);
    this.#steps.push(begun);
    begun.begin();
    return begun;
  }

  ended(step: StepActivities): void {
    const at = this.#steps.indexOf(step);
    if (at !== -1) this.#steps.splice(at, 1);
  }

  /** For what does not know which step it works for: the one that was begun last, or none. */
  readonly tell = (activity: Activity): void => {
    const step = this.#steps.at(-1);
    if (step !== undefined) step.tell(activity);
    else this.#ownActivities().tell(activity);
  };

  /** Keeps the rest of what belongs to no step. */
  close(): void {
    this.#own?.end();
    this.#own?.save();
    this.#own = null;
  }

  #ownActivities(): StepActivities {
    const { threadId, lgTaskId, attempt } = this.#deps.visit;
    this.#own ??= this.#activitiesOf({ threadId, lgTaskId, name: PREPARE }, attempt);
    return this.#own;
  }

  #activitiesOf({ threadId, lgTaskId, name }: StepKey, attempt: number): StepActivities {
    const { visit, taskId, now, runs, events } = this.#deps;
    const step = { threadId, lgTaskId, name, attempt, node: visit.node, taskId };
    return new StepActivities(step, now(), { runs, at: visit, events });
  }
}
