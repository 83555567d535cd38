import type { History } from './History.ts';
import { TASK_STAGES, type TaskStage } from './loadPrompts.ts';

/** Conversations that are kept; of a process that drives many runs, the last ones. */
const MAX_KEPT = 8;

/** The conversation of one attempt at a task. */
interface TaskTalk {
  readonly history: History;
  /** Its name. */
  readonly model: string;
  /** Where each stage begins, in the order in which they were asked. */
  readonly begun: { readonly stage: TaskStage; readonly before: number }[];
}

/** The conversation of a stage. */
export interface StageTalk {
  readonly history: History;
  /** The stage before it is part of the history. */
  readonly isContinued: boolean;
}

/**
 * The conversations of tasks, in memory. After a restart, a stage begins a new one: its request has the recorded results of
 * the stages before.
 */
export class TaskTalks {
  readonly #talks = new Map<string, TaskTalk>();

  /** Continues after the stage before, or begins anew. Drops the messages of an earlier try of this stage. */
  stage(
    id: string,
    stage: TaskStage,
    { model, open }: { readonly model: string; readonly open: () => History },
  ): StageTalk {
    const found = this.#talks.get(id);
    const history = found?.model === model ? historyBefore(found, stage) : null;
    const talk: TaskTalk =
      found !== undefined && history !== null ? found : { history: open(), model, begun: [] };
    talk.begun.push({ stage, before: talk.history.length });
    this.#keep(id, talk);
    return { history: talk.history, isContinued: history !== null };
  }

  #keep(id: string, talk: TaskTalk): void {
    this.#talks.delete(id);
    this.#talks.set(id, talk);
    const [oldest] = this.#talks.keys();
    if (this.#talks.size > MAX_KEPT && oldest !== undefined) this.#talks.delete(oldest);
  }
}

/** `null` if the conversation lacks the stage before. */
function historyBefore({ history, begun }: TaskTalk, stage: TaskStage): History | null {
  const again = begun.findIndex((each) => each.stage === stage);
  if (again !== -1) {
    history.truncate(begun[again]?.before ?? 0);
    begun.length = again;
  }
  const before = TASK_STAGES[TASK_STAGES.indexOf(stage) - 1];
  return before !== undefined && begun.at(-1)?.stage === before ? history : null;
}
