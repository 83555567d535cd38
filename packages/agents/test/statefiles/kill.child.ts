// Drives the run of a kind until it is killed. Arguments: KIND DIR
import { KINDS } from './kinds.ts';

const [name = '', dir = '.'] = process.argv.slice(2);
await KINDS[name]?.driveToDeath?.(dir);
