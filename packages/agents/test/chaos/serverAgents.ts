import type { AgentCall, StageAgents, TaskRequest } from '@devs/core';
import type { ModelClient } from './ModelClient.ts';

/** Agents that ask the model server; it answers as `fakeAgents` does. */
export function serverAgents(model: ModelClient): StageAgents {
  const stage =
    <Result>(what: string) =>
    (request: object, { idempotencyKey, signal }: AgentCall): Promise<Result> =>
      model.ask(what, request, idempotencyKey, signal);
  const turn =
    <Result>(what: string) =>
    ({ workspace: _, ...request }: TaskRequest, call: AgentCall): Promise<Result> =>
      stage<Result>(what)(request, call);
  return {
    name: 'model server',
    provenance: 'scripted',
    research: stage('research'),
    design: stage('design'),
    distill: stage('distill'),
    writeTest: turn('writeTest'),
    implement: turn('implement'),
    review: turn('review'),
    document: turn('document'),
  };
}
