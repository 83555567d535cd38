import type { AnswerRequest, DesignRequest, PivotRequest, TaskRequest } from '@devs/core';

export const STAGES = ['research', 'design', 'distill', 'task', 'ask'] as const;
export const STEPS = [
  'call',
  'again',
  'test',
  'implement',
  'review',
  'document',
  'pivot',
  'pivotAgain',
  'design',
  'distill',
] as const;

export type RecordedStage = (typeof STAGES)[number];
export type RecordedStep = (typeof STEPS)[number];

/** Key of one agent call, equal in every run of the same brief. */
export interface CallKey {
  readonly stage: RecordedStage;
  /** `T1`, `T2`, … for calls and questions about a task; empty for others. */
  readonly task: string;
  /** From 1. */
  readonly attempt: number;
  /**
   * `call` for stages with one request; `again` for a design that was returned because of missing files; for a
   * question, the answering stage.
   */
  readonly step: RecordedStep;
  /** Of `ask`: a person's question at a gate. Its attempts are versions of the documents. */
  readonly question?: string | undefined;
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

/** The key of a person's question at a gate. */
export function answerRequestKey({ stage, task, question }: AnswerRequest, attempt: number): CallKey {
  return {
    stage: 'ask',
    task: task === undefined ? '' : shortTaskId(task.taskId),
    attempt,
    step: stage,
    question,
  };
}

/** One line for people and for maps: `task T1 attempt 1 implement`. */
export function keyText({ stage, task, attempt, step, question }: CallKey): string {
  if (stage === 'ask')
    return `ask ${task === '' ? '' : `${task} `}${step} attempt ${attempt} ${JSON.stringify(question)}`;
  if (stage === 'task') return `task ${task} attempt ${attempt} ${step}`;
  return `${stage} attempt ${attempt}${step === 'again' ? ' again' : ''}`;
}

function shortTaskId(taskId: string): string {
  const number = /^.+:(\d+)$/.exec(taskId)?.[1];
  if (number === undefined) {
    throw new RangeError(`Expected a task id of the form "<project>:<n>", got ${JSON.stringify(taskId)}.`);
  }
  return `T${number}`;
}
