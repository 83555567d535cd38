import { DevsError } from '@devs/core';

/** For verbs that need what a gate shows: it is closed, or not open yet. */
export const gateNotOpen = (sessionId: string): DevsError =>
  new DevsError(`Gate ${sessionId.slice(0, 8)} is not open.`, {
    code: 'GATE_NOT_FOUND',
    remedy: 'List the open gates with devs gates, or read the decision with devs log.',
    context: { sessionId },
  });
