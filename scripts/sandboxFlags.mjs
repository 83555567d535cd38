// The flags that let `devs run` work on this machine too. Needs a build.
import { bubblewrapRuns } from '../packages/agents/dist/sandbox/findSandbox.js';

/** None where bubblewrap runs; elsewhere the permission to do without, said on stderr. */
export async function sandboxFlags() {
  if (await bubblewrapRuns()) return [];
  console.error('bubblewrap does not run here: commands run without a sandbox (--no-sandbox).\n');
  return ['--no-sandbox'];
}
