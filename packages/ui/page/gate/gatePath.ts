import type { GateView } from '../../src/views/gateView.ts';

/** The routes of a gate begin so. */
export const gatePath = ({ threadId, sessionId }: Pick<GateView, 'threadId' | 'sessionId'>): string =>
  `api/runs/${encodeURIComponent(threadId)}/gates/${encodeURIComponent(sessionId)}`;
