import { mkdtemp, readFile, rm, symlink, utimes, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import type { CheckResult } from '@devs/core';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { CommandChecks, type CommandChecksOptions } from '../CommandChecks.ts';

let dir: string;

beforeEach(async () => {
  dir = await mkdtemp(join(tmpdir(), 'devs-checks-test-'));
});

afterEach(() => rm(dir, { recursive: true, force: true }));

/** Runs a script as the check. */
async function check(
  source: string,
  options: CommandChecksOptions = {},
  signal?: AbortSignal,
): Promise<CheckResult> {
  await writeFile(join(dir, 'check.mjs'), source);
  const checks = new CommandChecks({ argv: [process.execPath, 'check.mjs'], ...options });
  return checks.run({ dir, signal: signal ?? new AbortController().signal });
}

/** A script that starts a grandchild deaf to SIGTERM, writes both ids to `pids` and never ends. */
const HANGS = `
import { spawn } from 'node:child_process';
import { writeFileSync } from 'node:fs';
const deaf = "process.on('SIGTERM', () => {}); process.stdout.write('up'); setInterval(() => {}, 1000)";
const child = spawn(process.execPath, ['-e', deaf], { stdio: ['ignore', 'pipe', 'inherit'] });
child.stdout.once('data', () => writeFileSync('pids', process.pid + ' ' + child.pid));
setInterval(() => {}, 1000);
`;

/** The same, without the time that two programs of Node.js take to start. */
const HANGS_AT_ONCE = `(trap '' TERM; while :; do sleep 1; done) & echo "$$ $!" > pids; wait`;

async function startedPids(): Promise<readonly number[]> {
  for (;;) {
    const found = await readFile(join(dir, 'pids'), 'utf8').catch(() => '');
    if (found !== '') return found.split(' ').map(Number);
    await sleep(20);
  }
}

/** Resolves once no process has the id any more; a killed one stays a zombie until its new parent reaps it. */
async function gone(pid: number): Promise<void> {
  for (;;) {
    const state = await readFile(`/proc/${pid}/stat`, 'utf8').catch(() => null);
    if (state === null || state.slice(state.lastIndexOf(')')).startsWith(') Z')) return;
    await sleep(20);
  }
}

describe('CommandChecks', () => {
  it('passes when the command succeeds, and shows both streams', async () => {
    const result = await check("console.log('fine'); console.error('a warning')");
    expect(result).toMatchObject({ passed: true, exitCode: 0, timedOut: false });
    expect(result.output).toContain('fine');
    expect(result.output).toContain('a warning');
    expect(result.command).toBe(`${process.execPath} check.mjs`);
  });

  it('fails when the command fails, with its exit code', async () => {
    expect(await check("console.log('red'); process.exit(3)")).toMatchObject({
      passed: false,
      exitCode: 3,
      output: 'red\n',
    });
  });

  it('has no exit code when the command was ended by a signal', async () => {
    const result = await check("process.kill(process.pid, 'SIGKILL'); setInterval(() => {}, 1000)");
    expect(result).toMatchObject({ passed: false, exitCode: null, timedOut: false });
  });

  it('ends the whole group at the time limit, a deaf grandchild included', async () => {
    const checks = new CommandChecks({ argv: ['sh', '-c', HANGS_AT_ONCE], timeoutMs: 1_500 });
    const result = await checks.run({ dir, signal: new AbortController().signal });
    expect(result).toMatchObject({ passed: false, exitCode: null, timedOut: true, limitMs: 1_500 });
    expect(result.output).toContain('Stopped after 1500 ms.');
    for (const pid of await startedPids()) await gone(pid);
  });

  it('ends the whole group when aborted, and says so by the reason of the signal', async () => {
    const controller = new AbortController();
    const running = check(HANGS, {}, controller.signal);
    const refused = expect(running).rejects.toThrow('the driver stops');
    const pids = await startedPids();
    controller.abort(new Error('the driver stops'));
    await refused;
    for (const pid of pids) await gone(pid);
  });

  it('starts nothing when it was aborted before', async () => {
    await expect(
      check("import('node:fs').then((fs) => fs.writeFileSync('ran', ''))", {}, AbortSignal.abort()),
    ).rejects.toThrow();
    await expect(readFile(join(dir, 'ran'))).rejects.toMatchObject({ code: 'ENOENT' });
  });

  it('leaves nothing running behind a command that ended by itself', async () => {
    const result = await check(`
      import { spawn } from 'node:child_process';
      import { writeFileSync } from 'node:fs';
      const child = spawn(process.execPath, ['-e', 'setInterval(() => {}, 1000)'], { stdio: 'inherit' });
      writeFileSync('pids', String(child.pid));
      process.exit(0);
    `);
    expect(result.passed).toBe(true);
    for (const pid of await startedPids()) await gone(pid);
  });

  it('keeps the end of a flood and marks the cut', async () => {
    const result = await check(
      "const line = 'x'.repeat(1023) + '\\n'; for (let i = 0; i < 8192; i += 1) process.stdout.write(line); console.log('the end')",
      { maxOutputBytes: 10_000 },
    );
    expect(result.passed).toBe(true);
    expect(result.output.length).toBeLessThan(10_100);
    expect(result.output.startsWith('… truncated\n')).toBe(true);
    expect(result.output.endsWith('the end\n')).toBe(true);
  });

  it('shows the command no secret of this process, and only the variables it was given', async () => {
    for (const secret of ['PLANTED_SECRET', 'AWS_SECRET_ACCESS_KEY', 'NPM_TOKEN'])
      vi.stubEnv(secret, 'hunter2');
    vi.stubEnv('NODE_OPTIONS', '--no-warnings');
    vi.stubEnv('ALSO_GIVEN', 'yes');
    try {
      const { output } = await check('console.log(JSON.stringify(process.env))', { env: ['ALSO_GIVEN'] });
      expect(output).not.toContain('hunter2');
      const seen = JSON.parse(output) as Record<string, string>;
      expect(seen).toMatchObject({ CI: '1', NO_COLOR: '1', ALSO_GIVEN: 'yes' });
      expect(seen['NODE_OPTIONS']).toBeUndefined();
      expect(seen['HOME']).not.toBe(process.env['HOME']);
    } finally {
      vi.unstubAllEnvs();
    }
  });

  it('gives the command an empty home that is gone afterwards', async () => {
    const { output } = await check(`
      import { readdirSync } from 'node:fs';
      console.log(readdirSync(process.env.HOME).length + ' ' + process.env.HOME);
    `);
    const [count, home = ''] = output.trim().split(' ');
    expect(count).toBe('0');
    await expect(readFile(home)).rejects.toMatchObject({ code: 'ENOENT' });
  });

  it('masks secrets in the output, also one that the cut goes through', async () => {
    const token = `ghp_${'a1B2'.repeat(9)}`;
    const { output } = await check(`process.stdout.write('${token}' + '-'.repeat(990))`, {
      maxOutputBytes: 1_000,
    });
    expect(output).not.toContain('a1B2');
    const whole = await check(`console.log('token is ${token}')`);
    expect(whole.output).not.toContain(token);
  });

  it('drops terminal control sequences', async () => {
    expect((await check("console.log('\\u001b[31mred\\u001b[0m')")).output).toBe('red\n');
  });

  it('is red, not broken, when the command does not exist or may not be run', async () => {
    expect(await check('', { argv: ['devs-no-such-command', 'a b'] })).toEqual({
      passed: false,
      exitCode: 127,
      timedOut: false,
      output: `The check "devs-no-such-command 'a b'" could not be started: it was not found on PATH.`,
      command: "devs-no-such-command 'a b'",
      missing: 'devs-no-such-command',
    });
    expect(await check('', { argv: ['./check.mjs'] })).toMatchObject({ passed: false, exitCode: 126 });
  });

  it('tells the cases, and is red when one failed whatever the exit code says', async () => {
    const tap = "console.log('TAP version 13\\nok 1 - a\\nnot ok 2 - b\\n1..2')";
    const cases = [
      { name: 'a', state: 'passed' },
      { name: 'b', state: 'failed' },
    ];
    expect(await check(tap)).toMatchObject({ passed: false, exitCode: 0, cases });
    expect(await check(tap.replace('not ok', 'ok'))).toMatchObject({ passed: true });
    const lie = `${tap.replace('not ok', 'ok')}; process.exit(1)`;
    expect(await check(lie)).toMatchObject({ passed: false, exitCode: 1 });
  });

  it('tells no folder in the names of cases, also where a link leads to it', async () => {
    await writeFile(join(dir, 'a.test.mjs'), "import { gone } from 'node:fs'; gone();\n");
    const link = join(dir, 'link');
    await symlink(dir, link);
    const checks = new CommandChecks({
      argv: [process.execPath, '--test', '--test-reporter=tap', 'a.test.mjs'],
    });
    const { cases } = await checks.run({ dir: link, signal: new AbortController().signal });
    expect(cases).toEqual([{ name: 'a.test.mjs', state: 'failed', whole: true }]);
  });

  it('tells the cases of the report it names, if this run wrote it', async () => {
    const xml = `<testsuite><testcase classname="s" name="a"/></testsuite>`;
    const report = 'report.xml';
    const write = `require('fs').writeFileSync('${report}', '${xml}')`;
    const run = (source: string) => check('', { argv: [process.execPath, '-e', source], report });
    expect(await run(write)).toMatchObject({ passed: true, cases: [{ name: 's › a', state: 'passed' }] });
    await utimes(join(dir, report), 1, 1);
    expect(await run('0')).not.toHaveProperty('cases');
  });

  it('refuses a folder that does not exist', async () => {
    const checks = new CommandChecks();
    const signal = new AbortController().signal;
    await expect(checks.run({ dir: join(dir, 'nope'), signal })).rejects.toMatchObject({
      code: 'WORKSPACE_FAILED',
    });
  });

  it('refuses wrong options by name', () => {
    expect(() => new CommandChecks({ argv: [] })).toThrow(TypeError);
    expect(() => new CommandChecks({ timeoutMs: Number.NaN })).toThrow('timeoutMs');
    expect(() => new CommandChecks({ maxOutputBytes: 0 })).toThrow('maxOutputBytes');
  });
});
