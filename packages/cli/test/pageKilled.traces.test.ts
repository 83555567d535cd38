// openChromium: in a process of its own.
import { spawn } from 'node:child_process';
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { describe, expect, onTestFinished } from 'vitest';
import { buildPageInto } from '../../ui/test/support/builtPage.ts';
import { openChromium } from '../../ui/test/support/chromium.ts';
import { callMain } from './support/callMain.ts';
import { AGENTS, BRIEF, GATED_CHECK, test } from './support/fixtures.ts';
import { sharedBin } from './support/sharedBin.ts';
import { stateHome } from './support/stateHome.ts';

const BIN = await sharedBin();

const LINK = /http:\/\/localhost:\d+\/#code=[\w-]+/;

/** `devs ui` on a pseudo-terminal: the process, and the link that it printed. */
async function devsUi(dir: string): Promise<{ readonly pid: number; readonly link: string }> {
  const command = `stty cols 200 rows 50; exec '${process.execPath}' '${BIN}' ui --port 0 --by ada`;
  const child = spawn('script', ['-qec', command, '/dev/null'], {
    cwd: dir,
    env: { ...process.env, TERM: 'xterm', SHELL: '/bin/sh', XDG_STATE_HOME: stateHome() },
    stdio: ['pipe', 'pipe', 'inherit'],
  });
  onTestFinished(() => void child.kill('SIGKILL'));
  let screen = '';
  child.stdout.setEncoding('utf8').on('data', (text: string) => {
    screen += text;
  });
  while (!LINK.test(screen)) {
    if (child.exitCode !== null) throw new Error(`The process ended too early: ${screen}`);
    await sleep(20);
  }
  const pid = Number(readFileSync(`/proc/${child.pid}/task/${child.pid}/children`, 'utf8').trim());
  return { pid, link: LINK.exec(screen)?.[0] ?? '' };
}

describe('devs ui that is killed while it executes a run', () => {
  test('is started again, and goes on from what is on disk', { timeout: 240_000 }, async ({ dir }) => {
    await buildPageInto(join(dirname(BIN), 'page'));
    const check = `sh ${GATED_CHECK} ${dir}`;
    const told = ['--id', 'sum', '--agents', AGENTS, '--check', check, '--no-sandbox'];
    await callMain(dir, ['run', BRIEF, ...told]);
    const first = await devsUi(dir);
    const browser = await openChromium();
    const page = await browser.newPage();
    page.setDefaultTimeout(0);
    await page.goto(first.link);
    await page.locator('main a.item').first().click();
    for (const about of ['Design', 'Plan']) {
      await page.locator('.head .chip', { hasText: about }).waitFor();
      await page.locator('#approve', { hasText: 'Approve and go on' }).click();
      await page.locator('h1', { hasText: 'You approved' }).waitFor();
      if (about === 'Design') await page.getByText('Review it').click();
    }
    // In the middle of a task: its checks are under way.
    while (!existsSync(join(dir, 'started'))) await sleep(20);
    process.kill(first.pid, 'SIGKILL');
    await page.getByText('The server of this page has stopped.').first().waitFor();
    writeFileSync(join(dir, 'go'), '');

    const second = await devsUi(dir);
    const phone = await browser.newPage({ viewport: { width: 390, height: 844 } });
    phone.setDefaultTimeout(0);
    await phone.goto(`${second.link}&at=/runs/sum`);
    await phone.getByText('Nothing drives this run').waitFor();
    await phone.getByRole('button', { name: /^Go on/ }).click();
    await phone.locator('.head .status.completed').waitFor();
    await expect.poll(() => phone.locator('.commits li').count()).toBe(1);
    const status = await callMain(dir, ['status', 'sum', '--json']);
    expect(JSON.parse(status.stdout)).toMatchObject({
      status: 'completed',
      tasks: [{ status: 'completed' }],
    });
    expect((await callMain(dir, ['admin', 'doctor'])).exitCode).toBe(0);
  });
});
