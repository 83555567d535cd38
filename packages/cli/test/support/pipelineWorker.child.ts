// A worker of the pipeline that hangs in the second task of a run, until it is killed. Prints a line once it hangs.
// Arguments: URL DIR REPOSITORY.
import { writeSync } from 'node:fs';
import { pipelineMachine } from './pipelineMachine.ts';

const [url = '', dir = '', repository = ''] = process.argv.slice(2);
const onSecondTask = (): void => void writeSync(1, 'hangs\n');
const { devs, runs } = await pipelineMachine({ url, dir, repository, onSecondTask });
await runs.work({ drivers: [await devs.driver()], slots: 1 });
