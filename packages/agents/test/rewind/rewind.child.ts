// Sets the run in DIR back to the end of T1 and kills itself with SIGKILL before the N-th thing that it writes: a
// statement of the state file or a command of git. Prints how many there were when it is not killed.
// Arguments: DIR N
import childProcess from 'node:child_process';
import { syncBuiltinESMExports } from 'node:module';
import { join } from 'node:path';
import { createDatabase } from '@devs/core/state';

const [dir = '.', at = '0'] = process.argv.slice(2);
let written = 0;
let isCounting = false;

function beforeWriting(): void {
  if (!isCounting) return;
  written += 1;
  if (written === Number(at)) process.kill(process.pid, 'SIGKILL');
}

const { spawn } = childProcess;
childProcess.spawn = ((...args: Parameters<typeof spawn>) => {
  beforeWriting();
  return spawn(...args);
}) as typeof spawn;
syncBuiltinESMExports();

const probe = createDatabase({ dbPath: join(dir, '.devs', 'state.sqlite') });
const connections = Object.getPrototypeOf(probe) as typeof probe;
probe.close();
const { prepare } = connections;
connections.prepare = function (this: typeof probe, sql: string) {
  const statement = prepare.call(this, sql);
  if (!statement.readonly) {
    const run = statement.run.bind(statement) as (...args: unknown[]) => never;
    statement.run = (...args: unknown[]) => {
      beforeWriting();
      return run(...args);
    };
  }
  return statement;
} as typeof prepare;

const { ADA, openProject, THREE } = await import('./rewoundRun.ts');
const devs = await openProject({ dir, shape: THREE });
const run = await devs.run('r');
isCounting = true;
await run.rewind('T1', { by: ADA });
isCounting = false;
devs.close();
process.stdout.write(String(written));
