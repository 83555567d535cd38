import { execFileSync } from 'node:child_process';
import { cpSync, mkdtempSync, readFileSync, realpathSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { test as base, expect } from 'vitest';
import { UserCheckout } from '../../../core/test/support/UserCheckout.ts';
import { bundledBin } from '../support/bundledBin.ts';
import { Shell } from './Shell.ts';
import { BRIEF, writeShopRecording } from './shopRecording.ts';
import { withConsoleBlocks } from './withConsoleBlocks.ts';

const PAGE = fileURLToPath(new URL('../../../../docs/cli.md', import.meta.url));
const SHOP = fileURLToPath(new URL('../fixtures/shop', import.meta.url));

interface Week {
  readonly shell: Shell;
  /** The repository `~/shop`: a pnpm monorepo of two packages, each with tests of its own. */
  readonly user: UserCheckout;
}

const test = base.extend<{ week: Week }>({
  week: async ({}, use) => {
    const home = realpathSync(mkdtempSync(join(tmpdir(), 'devs-week-')));
    const devs = await bundledBin(join(home, '.devs-package'));
    writeShopRecording(join(home, 'recording.jsonl'));
    const shop = join(home, 'shop');
    cpSync(SHOP, shop, { recursive: true });
    const user = UserCheckout.create(shop);
    user.git('add', '.');
    user.git('commit', '-q', '-m', 'First');
    await use({ shell: new Shell(home, shop, devs), user });
    user.assertUntouched();
    rmSync(home, { recursive: true, force: true, maxRetries: 3 });
  },
});

const WAITS = 75;

const SETUP = `"setup": [
    "pnpm",
    "install",
    "--frozen-lockfile"
  ],
  `;

/** The whole list of a check's program and arguments. */
const PNPM_TEST = `"pnpm",
        "run",
        "test"`;

const MAIL_TASK = `      - task: T3
        name: Send the receipt by mail
        description: Write send(receipt, address) in packages/cart.
        after:
          - T2
        requirements:
          - REQ-2
        criteria:
          - a mail is sent
`;

async function ask({ shell, user }: Week): Promise<void> {
  shell.scene('2026-03-02');
  await shell.type('devs init --agents replay:../recording.jsonl');
  await shell.edit('$EDITOR .devs/config.json', [SETUP, ''], [PNPM_TEST, '"node", "--test"']);
  expect(await shell.answer('devs trust', '(yes or no): ', 'yes')).toMatchObject({ exitCode: 0 });
  user.write('receipts.md', BRIEF);
  await shell.type('cat receipts.md');
  expect(await shell.type('devs run receipts.md --id receipts --review task --no-sandbox')).toMatchObject({
    exitCode: WAITS,
  });
  await shell.type('devs show receipts');
}

async function correctTheDesign({ shell }: Week): Promise<void> {
  shell.scene('2026-03-03');
  await shell.edit('devs edit receipts', [
    'An amount with a fraction of a cent is rounded.',
    'Amounts are whole cents; refunds are negative.',
  ]);
  expect(await shell.type('devs resume receipts')).toMatchObject({ exitCode: WAITS });
  await shell.type('devs show receipts');
  await shell.type('devs approve receipts');
}

async function dropATask({ shell }: Week): Promise<void> {
  shell.scene('2026-03-04');
  await shell.type('devs resume receipts');
  await shell.type('devs show receipts');
  await shell.edit('devs edit receipts', [MAIL_TASK, '']);
  await shell.type('devs resume receipts');
  await shell.type('devs approve receipts');
}

async function pullThePlug({ shell }: Week): Promise<void> {
  shell.scene('2026-03-05');
  expect(await shell.killDuringChecksOf('format.js', 'devs resume receipts')).toMatchObject({
    exitCode: null,
  });
  await shell.type('devs status receipts');
  expect(await shell.type('devs resume receipts')).toMatchObject({ exitCode: WAITS });
}

async function review({ shell }: Week): Promise<void> {
  shell.scene('2026-03-06');
  await shell.type('devs show receipts');
  await shell.type("devs reject receipts --feedback 'A refund reads -€5.00, not €-5.00.'");
  await shell.type('devs resume receipts');
  await shell.type('devs show receipts');
  await shell.type('devs approve receipts');
  await shell.type('devs resume receipts');
  await shell.type('devs approve receipts');
  expect(await shell.type('devs resume receipts')).toMatchObject({ exitCode: 0 });
}

async function takeTheWork({ shell, user }: Week): Promise<void> {
  shell.scene('2026-03-07');
  const merge = 'git merge devs/receipts';
  user.change(() =>
    shell.record(merge, execFileSync('sh', ['-c', merge], { cwd: user.root, encoding: 'utf8' })),
  );
}

const DAYS = [ask, correctTheDesign, dropATask, pullThePlug, review, takeTheWork];

test('docs/cli.md tells the first week as it goes', { timeout: 300_000 }, async ({ week }) => {
  for (const day of DAYS) await day(week);
  for (const name of ['cart', 'money']) {
    const cwd = join(week.user.root, 'packages', name);
    expect(execFileSync('node', ['--test'], { cwd, encoding: 'utf8' })).toMatch(/pass [2-9]/);
  }
  const page = withConsoleBlocks(readFileSync(PAGE, 'utf8'), week.shell.scenes);
  await expect(page).toMatchFileSnapshot(PAGE);
});
