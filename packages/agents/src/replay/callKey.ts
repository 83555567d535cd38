import type { AnswerRequest, DesignRequest, PivotRequest, TaskRequest } from '@devs/core';

export const STAGES = ['research', 'design', 'distill', 'task'] as const;
export const STEPS = [
  'call',
  'again',
  'test',
  'implement',
  'review',
  'document',
  'pivot',
  'pivotAgain',
  'answer',
] as const;

export type RecordedStage = (typeof STAGES)[number];
export type RecordedStep = (typeof STEPS)[number];

/** Names one agent call of a run, the same in every run of the same brief. */
export interface CallKey {
  readonly stage: RecordedStage;
  /** `T1`, `T2`, … for task calls; empty for the others. */
  readonly task: string;
  /** From 1. */
  readonly attempt: number;
  /**
   * `call` for stages that ask once; `again` for a design that was sent back for the files it names; `answer` for what a
   * person asked about the work.
   */
  readonly step: RecordedStep;
}

/** The key of a task call: the engine's id `<project>:<n>` becomes `T<n>`. */
export function taskKey(
  { task: { taskId }, attempt }: Pick<TaskRequest, 'task' | 'attempt'>,
  step: RecordedStep,
): CallKey {
  return { stage: 'task', task: shortTaskId(taskId), attempt, step };
}

/** The key of a pivot, which is asked a second time when it proposes what was tried. */
export function pivotKey(request: PivotRequest): CallKey {
  return taskKey(request, request.refused === null ? 'pivot' : 'pivotAgain');
}

export function stageKey(stage: Exclude<RecordedStage, 'task'>, attempt: number): CallKey {
  return { stage, task: '', attempt, step: 'call' };
}

/** The key of a design, which is asked a second time when it names files that are not there. */
export function designKey({
  attempt,
  unknownFiles,
}: Pick<DesignRequest, 'attempt' | 'unknownFiles'>): CallKey {
  return { ...stageKey('design', attempt), step: unknownFiles === undefined ? 'call' : 'again' };
}

/** The key of a person's question about a gate: the attempt is how many were asked there, with this one. */
export function answerKey({
  stage,
  task,
  earlier,
}: Pick<AnswerRequest, 'stage' | 'task' | 'earlier'>): CallKey {
  const ofStage = stage === 'design' || stage === 'distill' ? stage : 'task';
  return {
    stage: ofStage,
    task: task === undefined ? '' : shortTaskId(task.taskId),
    attempt: earlier.length + 1,
    step: 'answer',
  };
}

/** One line for people and for maps: `task T1 attempt 1 implement`. */
export function keyText({ stage, task, attempt, step }: CallKey): string {
  if (stage === 'task') return `task ${task} attempt ${attempt} ${step}`;
  return `${stage} attempt ${attempt}${step === 'call' ? '' : ` ${step}`}`;
}

function shortTaskId(taskId: string): string {
  const number = /^.+:(\d+)$/.exec(taskId)?.[1];
  if (number === undefined) {
    throw new RangeError(`Expected a task id of the form "<project>:<n>", got ${JSON.stringify(taskId)}.`);
  }
  return `T${number}`;
}
