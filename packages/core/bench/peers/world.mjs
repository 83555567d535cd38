// The world outside of every stack: it keeps its own account, and it can end the process at a chosen point.
import { appendFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';

/** How many paid calls the flow "chain" makes. */
export const CHAIN_CALLS = 10;

/**
 * @param folder Holds `account.txt`: one line per entry, milliseconds since the Unix epoch · life · what · process ·
 *   milliseconds of the processor that it has taken.
 * @param options.dieAt The point at which this process kills itself, the first time it gets there.
 * @param options.callMs Milliseconds until a paid call is answered.
 * @param options.life Which life of the worker this is, from 1; 0 for everybody else.
 */
export function makeWorld(folder, { dieAt = '', life = 0, callMs = 20 } = {}) {
  const note = (what) => {
    const { user, system } = process.cpuUsage();
    const about = [Date.now(), life, what, process.pid, (user + system) / 1000];
    appendFileSync(join(folder, 'account.txt'), `${about.join('\t')}\n`);
  };
  const die = (point) => {
    if (point === dieAt) process.kill(process.pid, 'SIGKILL');
  };
  return {
    note,
    die,

    /** Counted when it arrives. */
    async paidCall(name) {
      note(`paid call ${name}`);
      die('in the call');
      await sleep(callMs);
      return `Answer to ${name}.`;
    },

    /** Long enough for two processes to be in it at once. */
    async publish(draft) {
      note(`published ${draft}`);
      await sleep(300);
      return 'published';
    },

    async announce() {
      note('announced');
      return 'announced';
    },
  };
}
