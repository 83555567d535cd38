// The tests of the stock clients of the agent server, with the newest versions that the registry has: part of `pnpm test:long`.
//
//   node scripts/newest-clients.mjs
import { spawnSync } from 'node:child_process';
import { mkdtempSync, readFileSync, realpathSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

const root = fileURLToPath(new URL('..', import.meta.url));

/** Those that people write pages and programs with. */
const CLIENTS = [
  '@langchain/langgraph-sdk',
  '@langchain/langgraph',
  '@langchain/react',
  '@assistant-ui/react-langgraph',
  '@assistant-ui/tap',
  '@ag-ui/client',
  '@ag-ui/core',
  '@ag-ui/langgraph',
  '@ai-sdk/langchain',
  'ai',
];
/** Clients and tests share one React: as it is pinned. */
const PINNED = ['react', 'react-dom', 'react-test-renderer'];

function pinnedVersion(name) {
  const version = new RegExp(`^  "?${name}"?: (\\S+)$`, 'm').exec(
    readFileSync(join(root, 'pnpm-workspace.yaml'), 'utf8'),
  )?.[1];
  if (version === undefined) throw new Error(`pnpm-workspace.yaml has no version of ${name}.`);
  return version;
}

const versionOf = (folder, name) =>
  JSON.parse(readFileSync(join(folder, 'node_modules', name, 'package.json'), 'utf8')).version;

/** Whether it could be installed; a release can ask for what is not published. */
function install(folder, ...packages) {
  const options = ['install', '--force', '--no-audit', '--no-fund', '--loglevel=error', '--ignore-scripts'];
  return (
    spawnSync('npm', [...options, ...packages], { cwd: folder, stdio: ['ignore', 'ignore', 'inherit'] })
      .status === 0
  );
}

function main() {
  const folder = realpathSync(mkdtempSync(join(tmpdir(), 'devs-newest-clients-')));
  try {
    writeFileSync(join(folder, 'package.json'), '{"private":true,"type":"module"}\n');
    if (!install(folder, ...PINNED.map((name) => `${name}@${pinnedVersion(name)}`)))
      throw new Error('React could not be installed: is the registry there?');
    for (const name of CLIENTS) {
      const isNewest = install(folder, `${name}@latest`);
      // Beside the React of this folder, not that of the repository.
      if (!isNewest && !install(folder, `${name}@${pinnedVersion(name)}`))
        throw new Error(`${name} could not be installed, neither the newest version nor the pinned one.`);
      const note = isNewest ? '' : ', as it is pinned: the newest cannot be installed';
      process.stdout.write(`${name} ${versionOf(folder, name)}${note}\n`);
    }
    const env = { ...process.env, DEVS_NEWEST_CLIENTS: folder };
    const args = ['scripts/test.mjs', 'server/test/clients', '--reporter=default'];
    return spawnSync(process.execPath, args, { cwd: root, stdio: 'inherit', env }).status ?? 1;
  } finally {
    rmSync(folder, { recursive: true, force: true, maxRetries: 3 });
  }
}

process.exitCode = main();
