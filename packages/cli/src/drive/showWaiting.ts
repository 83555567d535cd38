import type { EventBus, Run } from '@devs/core';
import { ShownGates } from '../gates/ShownGates.ts';
import type { Session } from '../project/Session.ts';
import { gatePages } from '../show/gatePages.ts';

/** Prints each gate that a waiting run opens, once; await the returned function to stop. */
export function showWaiting(run: Run, events: EventBus, session: Session): () => Promise<void> {
  const told = new Set<string>();
  let work = Promise.resolve();
  const show = async (): Promise<void> => {
    const gates = (await run.gates()).filter(({ sessionId }) => !told.has(sessionId));
    for (const gate of gates) {
      told.add(gate.sessionId);
      const { lines } = await gatePages({ run, gate }, { full: true }, session);
      session.out.print('', ...lines);
      new ShownGates(session).remember([gate]);
    }
  };
  // What cannot be read now is said by the drive, or by `devs show`.
  const stop = events.on('RUN_SUSPENDED', () => {
    work = work.then(show).catch(() => undefined);
  });
  return () => {
    stop();
    return work;
  };
}
