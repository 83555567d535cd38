import type { Session } from './Session.ts';

/** Whether a person sits at both ends: only then is anything asked. */
export function isTerminal({ io, out }: Session): boolean {
  return !out.json && io.stdin.isTTY === true && io.stdout.isTTY === true;
}
