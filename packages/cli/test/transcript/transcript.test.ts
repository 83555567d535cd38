import { execFileSync } from 'node:child_process';
import {
  appendFileSync,
  copyFileSync,
  cpSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  realpathSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { execPath } from 'node:process';
import { fileURLToPath } from 'node:url';
import { test as base } from 'vitest';
import { howMany } from '../../../core/test/support/howMany.ts';
import { UserCheckout } from '../../../core/test/support/UserCheckout.ts';
import { AGENTS } from '../support/fixtures.ts';
import { quickTools } from '../support/quickTools.ts';
import { sharedBin } from '../support/sharedBin.ts';
import { FIRST_WEEK } from './firstWeek.ts';
import { type Hands, says } from './Hand.ts';
import {
  BRIEF,
  SUM_ANSWER,
  writeGreetingRecording,
  writeShopRecording,
  writeSmallRecording,
} from './recordings.ts';
import { Shell } from './Shell.ts';
import { typed } from './TypedPage.ts';

const ROOT = new URL('../../../../', import.meta.url);
const page = (name: string): string => fileURLToPath(new URL(name, ROOT));
const manifest = JSON.parse(readFileSync(page('package.json'), 'utf8')) as {
  readonly packageManager: string;
  readonly scripts: object;
};
const SHOP = fileURLToPath(new URL('../fixtures/shop', import.meta.url));

const test = base.extend<{ home: string }>({
  home: async ({}, use) => {
    const home = realpathSync(mkdtempSync(join(tmpdir(), 'devs-page-')));
    await use(home);
    rmSync(home, { recursive: true, force: true, maxRetries: 3 });
  },
});

/** A folder of the user's with one commit. */
function repository(folder: string, fill: (user: UserCheckout) => void): void {
  const user = UserCheckout.create(folder);
  user.change(() => {
    fill(user);
    user.git('add', '.');
    user.git('commit', '-q', '-m', 'First');
  });
}

if (howMany('DEVS_REAL_TOOLS', 1) === 1) quickTools();

const PAGE_TIME = { timeout: 300_000 };

test.concurrent('first-week.md shows what its commands print', PAGE_TIME, async ({ home, expect }) => {
  const file = page('docs/guide/first-week.md');
  writeShopRecording(join(home, 'recording.jsonl'));
  writeSmallRecording(join(home, 'small.jsonl'));
  const shop = join(home, 'shop');
  cpSync(SHOP, shop, { recursive: true });
  repository(shop, () => {});
  writeFileSync(join(shop, 'receipts.md'), BRIEF);
  const shell = new Shell({ home, cwd: shop, bin: await sharedBin() });
  const again = await typed({ file, home, hands: FIRST_WEEK }, shell);
  for (const name of ['cart', 'money']) {
    const cwd = join(shop, 'packages', name);
    expect(execFileSync('node', ['--test'], { cwd, encoding: 'utf8' })).toMatch(/pass [2-9]/);
  }
  await expect(again).toMatchFileSnapshot(file);
});

test.concurrent(
  'docs/guide/your-repository.md leads from an empty folder to a commit',
  PAGE_TIME,
  async ({ home, expect }) => {
    const file = page('docs/guide/your-repository.md');
    writeGreetingRecording(join(home, 'greeting.jsonl'));
    const bin = await sharedBin();
    const shell = new Shell({ home, cwd: home, bin, isInstalled: false, isKnownToGit: false });
    const hands: Hands = {
      'devs run ../brief.md --id hello --no-sandbox --no-research': [
        says('talk', 'And without a name?', '', 'approve', 'approve'),
      ],
    };
    const instead = { 'anthropic:claude-sonnet-4-5': 'replay:../greeting.jsonl' };
    await expect(await typed({ file, home, hands, instead }, shell)).toMatchFileSnapshot(file);
  },
);

/** What of this repository its demo needs, with the command as it is built. */
async function checkoutOf(folder: string): Promise<void> {
  cpSync(page('examples/slugify'), join(folder, 'examples/slugify'), {
    recursive: true,
    filter: (path) => !/\/(?:node_modules|out)$/.test(path),
  });
  cpSync(page('scripts'), join(folder, 'scripts'), { recursive: true });
  const files = {
    'packages/cli/dist/bin.js': `await import(${JSON.stringify(await sharedBin())});\n`,
    'packages/agents/src/sandbox/findSandbox.ts': 'export const bubblewrapRuns = async () => false;\n',
    'packages/cli/package.json': '{ "type": "module" }\n',
  };
  for (const [name, content] of Object.entries(files)) {
    mkdirSync(dirname(join(folder, name)), { recursive: true });
    writeFileSync(join(folder, name), content);
  }
  mkdirSync(join(folder, 'node_modules'));
  symlinkSync(page('node_modules/tsx'), join(folder, 'node_modules/tsx'));
}

/** On a machine that has bubblewrap. */
const sandboxed = (output: string): string =>
  output
    .replace(/^bubblewrap does not run here.*\n\n/, '')
    .replace(' --no-sandbox', '')
    .replace(/^sandbox: none.*$/m, 'sandbox: bwrap');

test.concurrent(
  'README.md shows the demo as it goes, and commands that work',
  PAGE_TIME,
  async ({ home, expect }) => {
    const file = page('README.md');
    await checkoutOf(join(home, 'devs'));
    const project = join(home, 'your-project');
    mkdirSync(project);
    repository(project, (user) => user.write('brief.md', '# Sum\n\nA function that adds two numbers.\n'));
    const recording = join(home, 'model.jsonl');
    copyFileSync(AGENTS.slice('replay:'.length), recording);
    appendFileSync(recording, SUM_ANSWER);
    const shell = new Shell({ home, cwd: join(home, 'devs'), bin: await sharedBin() });
    const demo = `exec '${execPath}' scripts/demo.mjs`;
    shell.program('npx', `[ "$*" = '--yes ${manifest.packageManager} demo' ] && ${demo}`);
    const agents = "replay:../model.jsonl --no-sandbox --check 'node --test'";
    const instead = { 'openai:gpt-5': agents, claude: agents };
    const hands: Hands = { 'devs log csv-export --follow': [{ kind: 'stops', after: 'waiting at a gate' }] };
    const again = await typed({ file, home, hands, instead, shown: sandboxed }, shell);
    expect(Object.keys(manifest.scripts)).toEqual(expect.arrayContaining(['demo', 'test', 'build']));
    await expect(again).toMatchFileSnapshot(file);
  },
);
