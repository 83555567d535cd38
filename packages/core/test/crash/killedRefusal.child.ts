// Makes a call whose result cannot be stored, and dies once that is recorded, before the run is settled.
import { durable } from '../../src/engine/app/durable.ts';
import { oneCall } from './refusedResult.ts';

const [file = '', log = ''] = process.argv.slice(2);
const dies = (): void => {
  process.kill(process.pid, 'SIGKILL');
};
await durable(
  oneCall(log, () => 1, dies),
  { file },
).run('run', {}, { throwOnFailure: false });
