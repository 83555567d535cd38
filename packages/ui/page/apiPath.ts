import type { GateView } from '../src/views/gateView.ts';

/** The routes of a run begin so. */
export const runPath = (runId: string): string => `api/runs/${encodeURIComponent(runId)}`;

/** The routes of a gate begin so. */
export const gatePath = ({ threadId, sessionId }: Pick<GateView, 'threadId' | 'sessionId'>): string =>
  `${runPath(threadId)}/gates/${encodeURIComponent(sessionId)}`;
