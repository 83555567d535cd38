import type { App, Example, Ran } from './Example.ts';

/** Tells a run what it waits for, or lets its hour come, as long as no human is asked. */
export async function passTime(app: App, ran: Ran, { signals = {} }: Pick<Example, 'signals'>): Promise<Ran> {
  let now = ran;
  while (now.status === 'waiting' && now.gates.length === 0) {
    const { until, waitsFor = [] } = now;
    for (const name of waitsFor.filter((one) => Object.hasOwn(signals, one)))
      await app.signal('run', name, signals[name], { by: { kind: 'human', id: 'you' }, signalId: name });
    const { driven } = await app.runDue(until === undefined ? {} : { now: until });
    now = driven[0] ?? now;
  }
  return now;
}
