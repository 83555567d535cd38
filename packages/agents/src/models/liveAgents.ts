import type { AgentCall, AnswerRequest, StageAgents, TaskRequest, WorkResult } from '@devs/core';
import { ANSWER_PROMPT } from './answerPrompt.ts';
import { type LiveIdentity, liveIdentity } from './liveIdentity.ts';
import type { ModelStage } from './loadPrompts.ts';
import type { StageRequest } from './renderRequest.ts';
import {
  type AnswerTool,
  submitAnswer,
  submitDesign,
  submitPlan,
  submitReports,
  submitReview,
  submitStrategy,
} from './stageAnswers.ts';

/** A stage whose result is an answer of a certain form. */
export interface StageQuestion<Answer> {
  readonly stage: ModelStage;
  readonly request: StageRequest | AnswerRequest;
  /** In the place of the stage's own prompt. @defaultValue that of the stage */
  readonly system?: string;
  readonly answer: AnswerTool<Answer>;
}

/** Who does the work of every stage, in one of two ways. */
export interface StageWorker {
  edit(stage: ModelStage, request: TaskRequest, call: AgentCall): Promise<WorkResult>;
  answer<Answer>(question: StageQuestion<Answer>, call: AgentCall): Promise<Answer>;
}

/** The stages of a worker that is asked live: which of them edit, and what answers the others. */
export function liveAgents(worker: StageWorker, identity: LiveIdentity): StageAgents {
  const { version } = identity.prompts;
  return {
    ...liveIdentity(identity),
    provenance: 'live',
    research: (request, call) =>
      worker.answer({ stage: 'research', request, answer: submitReports(version) }, call),
    design: (request, call) =>
      worker.answer({ stage: 'design', request, answer: submitDesign(version) }, call),
    distill: (request, call) => worker.answer({ stage: 'distill', request, answer: submitPlan }, call),
    writeTest: (request, call) => worker.edit('writeTest', request, call),
    implement: (request, call) => worker.edit('implement', request, call),
    review: (request, call) =>
      worker.answer({ stage: 'review', request, answer: submitReview(request.task) }, call),
    document: (request, call) => worker.edit('document', request, call),
    answer: (request, call) =>
      worker.answer({ stage: request.stage, request, system: ANSWER_PROMPT, answer: submitAnswer }, call),
    pivot: (request, call) => worker.answer({ stage: 'pivot', request, answer: submitStrategy }, call),
  };
}
