import type { OrchestratorOptions } from '@devs/core';
import type { Session } from './Session.ts';

/** The code of the runs of a project; what knows git is loaded with the first text that is asked for. */
export const codeInGit = ({ dir }: Pick<Session, 'dir'>): NonNullable<OrchestratorOptions['code']> => ({
  readAt: async (threadId, tree, path) => {
    const { GitWorkspace } = await import('@devs/agents');
    return new GitWorkspace({ dir }).readAt(threadId, tree, path);
  },
  diff: async (threadId, range) => {
    const { GitWorkspace } = await import('@devs/agents');
    return new GitWorkspace({ dir }).diff(threadId, range);
  },
});
