import type { GateAnswer, Principal } from '@devs/core';
import { gateRefusal } from '@devs/core/internal';
import type { ServedApp } from '../apps/ServedApp.ts';

/** Rejects every question of a thread. A question that cannot be rejected ends with its run. */
export async function refuseQuestions(app: ServedApp, thread: string, by: Principal): Promise<void> {
  const answers = (await app.gates(thread)).map((gate) => ({ gate, answer: gateRefusal(gate) }));
  if (answers.length === 0 || answers.some(({ answer }) => answer === null)) {
    await app.cancel(thread, { by });
    return;
  }
  for (const { gate, answer } of answers)
    await app.decide(gate, { ...answer, by, via: 'server' } as GateAnswer);
}
