import { spawnSync } from 'node:child_process';
import { mkdtempSync, openSync, readFileSync, rmSync, writeFileSync, writeSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test as base, describe, expect } from 'vitest';

const script = new URL('../../../../scripts/npmBanner.mjs', import.meta.url).href;

/** Takes the place of Vitest: prints its argument in two pieces. */
const REPORTER = `process.stdout.write(process.argv[1].slice(0, 7)); process.stdout.write(process.argv[1].slice(7));`;

/** What scripts/test.mjs does with its own stdout. */
const PROGRAM = `
  import { spawn } from 'node:child_process';
  import { bannerIn, overwrite } from ${JSON.stringify(script)};
  const [report, ...typed] = process.argv.slice(1);
  const banner = bannerIn(1, typed, process.env);
  const stdio = ['ignore', banner > 0 ? 'pipe' : 'inherit', 'inherit'];
  const child = spawn(process.execPath, ['-e', ${JSON.stringify(REPORTER)}, report], { stdio });
  if (banner > 0) overwrite(1, banner, child.stdout);
`;

const ENV = {
  npm_package_name: 'devs-monorepo',
  npm_lifecycle_event: 'test',
  npm_lifecycle_script: 'node scripts/test.mjs',
};
const BANNER = '\n> test\n> node scripts/test.mjs --reporter=json\n\n';
const LONG = JSON.stringify({ text: 'x'.repeat(100_000) });

interface Fixtures {
  /** What a file holds after its first content and a program that printed `report` behind it. */
  redirected: (first: string, report: string) => string;
}

const test = base.extend<Fixtures>({
  redirected: async ({}, use) => {
    const dir = mkdtempSync(join(tmpdir(), 'devs-banner-'));
    await use((first, report) => {
      const file = join(dir, 'out');
      writeFileSync(file, '');
      // As a shell opens it: who starts the program, the program and who comes after it go on where the last one has ended.
      const fd = openSync(file, 'w');
      writeSync(fd, first);
      const args = ['--input-type=module', '-e', PROGRAM, report, '--reporter=json'];
      const { stderr } = spawnSync(process.execPath, args, {
        env: { ...process.env, ...ENV },
        stdio: ['ignore', fd, 'pipe'],
        encoding: 'utf8',
      });
      expect(stderr).toBe('');
      writeSync(fd, 'after');
      return readFileSync(file, 'utf8');
    });
    rmSync(dir, { recursive: true });
  },
});

describe('a report that npm test redirects to a file', () => {
  test('takes the place of the banner, and who writes next goes on behind it', ({ redirected }) => {
    expect(redirected(BANNER, LONG)).toBe(`${LONG}after`);
  });

  test('does so where the package has a name before the script', ({ redirected }) => {
    const named = BANNER.replace('> test', '> devs-monorepo@ test');
    expect(redirected(named, LONG)).toBe(`${LONG}after`);
  });

  test('is filled up where it is shorter than the banner', ({ redirected }) => {
    const text = redirected(BANNER, '{"ok":true}');
    expect(JSON.parse(text.replace(/after$/, ''))).toEqual({ ok: true });
  });

  test.for([
    ['nothing, as with npm -s', ''],
    ['another text of any length', 'something that the user has written before\n'],
    ['the banner behind another text', `before\n${BANNER}`],
  ] as const)('leaves %s as it is', ([_what, first], { redirected }) => {
    expect(redirected(first, LONG)).toBe(`${first}${LONG}after`);
  });
});
