import type { AgentCall, CallUsage, DesignRequest, ResearchRequest, TaskRequest } from '@devs/core';

/** A call that keeps what it was told about usage. */
export function agentCall(
  signal: AbortSignal = new AbortController().signal,
): AgentCall & { readonly used: CallUsage[] } {
  const used: CallUsage[] = [];
  return { idempotencyKey: 'key', signal, usage: (usage) => void used.push(usage), used };
}

export function researchRequest(overrides: Partial<ResearchRequest> = {}): ResearchRequest {
  return { brief: '# Slugs', attempt: 1, ...overrides };
}

export function designRequest(overrides: Partial<DesignRequest> = {}): DesignRequest {
  return { ...researchRequest(), documents: [], feedback: null, ...overrides };
}

export function taskRequest(overrides: Partial<TaskRequest> = {}): TaskRequest {
  return {
    task: { taskId: 'slugify-ab12cd:1', name: 'One', description: 'First', acceptanceCriteria: ['It works'] },
    documents: [{ type: 'PRD', title: 'Goals', content: 'Text' }],
    attempt: 1,
    lastFailure: null,
    guidance: [],
    workspace: { dir: '/w', list: async () => [], read: async () => '' },
    ...overrides,
  };
}
