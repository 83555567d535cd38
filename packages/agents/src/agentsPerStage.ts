import {
  type AgentCall,
  type AnswerRequest,
  type AnswerResult,
  DevsError,
  type StageAgents,
} from '@devs/core';
import { MODEL_STAGES, type ModelStage } from './models/loadPrompts.ts';

/**
 * Combines agents: some stages are answered by others, for example a coding CLI that implements a model's design.
 *
 * @example
 * ```ts
 * const claude = await acpAgents({ agent: 'claude', sandbox });
 * const agents = agentsPerStage(await modelAgents({ model: 'openai:gpt-5' }), { implement: claude });
 * ```
 */
export function agentsPerStage(
  base: StageAgents,
  stages: Readonly<Partial<Record<ModelStage, StageAgents>>>,
): StageAgents {
  const by = (stage: ModelStage): StageAgents => stages[stage] ?? base;
  const all = [...new Set([base, ...MODEL_STAGES.map(by)])];
  const fingerprint = unique(all.map((agents) => agents.fingerprint ?? ''));
  const pivot = by('pivot');
  return {
    name: unique(all.map(({ name }) => name)),
    provenance: all.every(({ provenance }) => provenance === base.provenance) ? base.provenance : 'live',
    ...(fingerprint !== '' && { fingerprint }),
    reports: all.flatMap(({ reports = [] }) => reports),
    research: (request, call) => by('research').research(request, call),
    design: (request, call) => by('design').design(request, call),
    distill: (request, call) => by('distill').distill(request, call),
    writeTest: (request, call) => by('writeTest').writeTest(request, call),
    implement: (request, call) => by('implement').implement(request, call),
    review: (request, call) => by('review').review(request, call),
    document: (request, call) => by('document').document(request, call),
    ...(all.some(({ answer }) => answer) && {
      answer: (request, call) => answerBy(by(request.stage), request, call),
    }),
    ...(pivot.pivot && { pivot: pivot.pivot.bind(pivot) }),
    close: async () => void (await Promise.all(all.map(async (agents) => agents.close?.()))),
  };
}

async function answerBy(agents: StageAgents, request: AnswerRequest, call: AgentCall): Promise<AnswerResult> {
  if (agents.answer !== undefined) return agents.answer(request, call);
  throw new DevsError(`The agents "${agents.name}" do not answer questions.`, {
    code: 'ASK_UNSUPPORTED',
    remedy: 'Decide the gate. You can put your question into the feedback.',
    context: { stage: request.stage },
  });
}

const unique = (texts: readonly string[]): string => [...new Set(texts.filter(Boolean))].join(' + ');
