import { CommandChecks } from '../../src/checks/CommandChecks.ts';
import { GitWorkspace } from '../../src/workspace/GitWorkspace.ts';

// Opens the folder of a run of the project in argv, with the setup in argv.
const [dir = '', id = '', ...argv] = process.argv.slice(2);
await new GitWorkspace({
  dir,
  repository: dir,
  setup: new CommandChecks({ argv }),
  setupArgv: argv,
}).open(id);
