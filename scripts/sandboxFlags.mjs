// The flags that let `devs run` work on this machine too.
import { createRequire } from 'node:module';
import { fileURLToPath } from 'node:url';

const fromRoot = createRequire(new URL('../package.json', import.meta.url));
const findSandbox = fileURLToPath(new URL('../packages/agents/src/sandbox/findSandbox.ts', import.meta.url));

/** What `devs run` itself asks, without a build of the package that has it. */
async function bubblewrapRuns() {
  const esbuild = createRequire(fromRoot.resolve('tsx'))('esbuild');
  const { outputFiles } = await esbuild.build({
    stdin: { contents: `export { bubblewrapRuns } from ${JSON.stringify(findSandbox)};`, resolveDir: '.' },
    bundle: true,
    format: 'esm',
    platform: 'node',
    conditions: ['@devs/source'],
    packages: 'bundle',
    external: ['@langchain/*', 'better-sqlite3'],
    write: false,
  });
  const asked = await import(`data:text/javascript,${encodeURIComponent(outputFiles[0].text)}`);
  return asked.bubblewrapRuns();
}

/** None where bubblewrap runs; elsewhere the permission to do without, said on stderr. */
export async function sandboxFlags() {
  if (await bubblewrapRuns()) return [];
  console.error('bubblewrap does not run here: commands run without a sandbox (--no-sandbox).\n');
  return ['--no-sandbox'];
}
