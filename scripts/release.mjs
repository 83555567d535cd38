// Packs and publishes all packages: `pnpm release --help`. Publishing for real is left to .github/workflows/release.yml.
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { packAll } from './packAll.mjs';
import { publishedNames } from './published.mjs';
import { run } from './runProgram.mjs';

const root = fileURLToPath(new URL('..', import.meta.url));
/** A package after those it depends on. */
const ORDER = ['core', 'agents', 'postgres', 'mcp', 'server', 'ui', 'cli'];

const HELP = `Usage: pnpm release [--dry-run]

Checks that the packages can be published, builds, checks and packs them, and publishes the tarballs with npm and a statement
of provenance. That needs the identity of a workflow (OIDC), so it is refused elsewhere.

  --dry-run     everything but the upload; what only the workflow has is told, not refused
  --help        this text
`;

const { values } = parseArgs({
  options: { 'dry-run': { type: 'boolean', default: false }, help: { type: 'boolean', default: false } },
});

const manifestOf = (name) => JSON.parse(readFileSync(join(root, 'packages', name, 'package.json'), 'utf8'));

/** Why these packages should not be published as they are; empty when they can be. */
async function obstacles() {
  const names = publishedNames();
  const versions = new Set(names.map((name) => manifestOf(name).version));
  const [version] = versions;
  const changed = await run(['git', 'status', '--porcelain'], { cwd: root });
  const tags = await run(['git', 'tag', '--points-at', 'HEAD'], { cwd: root });
  const log = readFileSync(join(root, 'CHANGELOG.md'), 'utf8');
  return [
    [names.sort().join() === [...ORDER].sort().join(), `packages/ holds ${names}, published are ${ORDER}`],
    [versions.size === 1, `the packages have different versions: ${[...versions].join(', ')}`],
    [changed === '', 'there are changes that are not committed'],
    [tags.split('\n').includes(`v${version}`), `HEAD has no tag v${version}`],
    [log.includes(`\n## ${version}\n`), `CHANGELOG.md has no section ${version}`],
    [process.env.ACTIONS_ID_TOKEN_REQUEST_URL !== undefined, 'there is no identity of a workflow (OIDC)'],
  ].flatMap(([holds, why]) => (holds ? [] : [why]));
}

/** Provenance names the repository, and npm compares it with what the package says of itself. */
async function nameRepository({ GITHUB_SERVER_URL: server, GITHUB_REPOSITORY: repository }) {
  for (const name of ORDER) {
    const set = { type: 'git', url: `git+${server}/${repository}.git`, directory: `packages/${name}` };
    const values = Object.entries(set).map(([key, value]) => `repository.${key}=${value}`);
    await run(['npm', 'pkg', 'set', ...values], { cwd: join(root, 'packages', name) });
  }
}

async function publish(tarballs, isDry) {
  for (const name of ORDER) {
    const how = isDry ? ['--dry-run'] : ['--provenance'];
    process.stdout.write(`${isDry ? 'would publish' : 'publishes'} ${tarballs[name]}\n`);
    await run(['npm', 'publish', tarballs[name], '--access', 'public', '--ignore-scripts', ...how], {
      cwd: root,
    });
  }
}

async function main(isDry) {
  const found = await obstacles();
  for (const why of found) process.stdout.write(`${isDry ? 'not ready' : 'refused'}: ${why}\n`);
  if (found.length > 0 && !isDry) return 1;
  const to = mkdtempSync(join(tmpdir(), 'devs-release-'));
  try {
    await run(['pnpm', '-s', 'build'], { cwd: root });
    process.stdout.write(await run(['node', 'scripts/verify-packages.mjs'], { cwd: root }));
    if (!isDry) await nameRepository(process.env);
    await publish(await packAll({ checkout: root, to }), isDry);
  } finally {
    rmSync(to, { recursive: true, force: true });
  }
  return 0;
}

if (values.help) process.stdout.write(HELP);
else process.exitCode = await main(values['dry-run']);
