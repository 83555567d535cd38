import { execFileSync } from 'node:child_process';
import { cpSync, mkdtempSync, realpathSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { test as base, expect } from 'vitest';
import { UserCheckout } from '../../../core/test/support/UserCheckout.ts';
import { sharedBin } from '../support/sharedBin.ts';
import { FIRST_WEEK } from './firstWeek.ts';
import { type Hands, says } from './Hand.ts';
import { BRIEF, writeGreetingRecording, writeShopRecording, writeSmallRecording } from './recordings.ts';
import { Shell } from './Shell.ts';
import { typed } from './TypedPage.ts';

const ROOT = new URL('../../../../', import.meta.url);
const page = (name: string): string => fileURLToPath(new URL(name, ROOT));
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

test('docs/cli.md tells the first week as it goes', async ({ home }) => {
  const file = page('docs/cli.md');
  writeShopRecording(join(home, 'recording.jsonl'));
  writeSmallRecording(join(home, 'small.jsonl'));
  const shop = join(home, 'shop');
  cpSync(SHOP, shop, { recursive: true });
  repository(shop, () => {});
  writeFileSync(join(shop, 'receipts.md'), BRIEF);
  const shell = new Shell({ home, cwd: shop, bin: await sharedBin() });
  const again = await typed({ file, home, hands: FIRST_WEEK, from: '## The first week' }, shell);
  for (const name of ['cart', 'money']) {
    const cwd = join(shop, 'packages', name);
    expect(execFileSync('node', ['--test'], { cwd, encoding: 'utf8' })).toMatch(/pass [2-9]/);
  }
  await expect(again).toMatchFileSnapshot(file);
});

test('docs/tutorial.md leads from an empty folder to a commit', async ({ home }) => {
  const file = page('docs/tutorial.md');
  writeGreetingRecording(join(home, 'greeting.jsonl'));
  const shell = new Shell({ home, cwd: home, bin: await sharedBin(), isInstalled: false });
  const hands: Hands = {
    'devs run ../brief.md --id hello --no-sandbox --no-research': [
      says('talk', 'And without a name?', '', 'approve', 'approve'),
    ],
  };
  const instead = { 'anthropic:claude-sonnet-4-5': 'replay:../greeting.jsonl' };
  await expect(await typed({ file, home, hands, instead }, shell)).toMatchFileSnapshot(file);
});
