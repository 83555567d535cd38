import { ok } from 'node:assert/strict';
import { spawnProgram } from '../../../core/test/support/spawnTs.ts';

/** Runs `driveToDeath` of a kind in a process of its own, which is killed with -9. */
export async function killedChild(kind: string, dir: string): Promise<void> {
  const { finished } = spawnProgram('packages/agents/test/statefiles/kill.child.ts', [kind, dir]);
  const { signal, code, stderr } = await finished;
  ok(signal === 'SIGKILL', `${kind} was to be killed and ended with ${signal ?? code}: ${stderr}`);
}
