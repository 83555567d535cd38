import { spawnSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect, onTestFinished, test } from 'vitest';

const script = fileURLToPath(new URL('../../../../scripts/close-changelog.mjs', import.meta.url));

function close(log: string): { readonly code: number | null; readonly stderr: string; readonly log: string } {
  const dir = mkdtempSync(join(tmpdir(), 'devs-changelog-'));
  onTestFinished(() => rmSync(dir, { recursive: true }));
  mkdirSync(join(dir, 'packages', 'core'), { recursive: true });
  writeFileSync(join(dir, 'packages', 'core', 'package.json'), '{ "version": "0.2.0" }');
  writeFileSync(join(dir, 'CHANGELOG.md'), log);
  const { status, stderr } = spawnSync(process.execPath, [script], { cwd: dir, encoding: 'utf8' });
  return { code: status, stderr, log: readFileSync(join(dir, 'CHANGELOG.md'), 'utf8') };
}

test('what is unreleased becomes the section that the release looks for', () => {
  const old = '\n## 0.1.0\n\n- feat: first\n';
  expect(close(`# Changelog\n\n## Unreleased\n\n- feat: new\n${old}`)).toEqual({
    code: 0,
    stderr: '',
    log: `# Changelog\n\n## Unreleased\n\n## 0.2.0\n\n- feat: new\n${old}`,
  });
});

test.each([
  ['nothing is unreleased', '# Changelog\n\n## Unreleased\n\n## 0.1.0\n\n- feat: first\n'],
  ['the section is missing', '# Changelog\n\n## 0.1.0\n\n- feat: first\n'],
])('refuses where %s, and leaves the file', (_what, log) => {
  const refused = 'CHANGELOG.md says nothing under Unreleased: there is nothing to release.\n';
  expect(close(log)).toEqual({ code: 1, stderr: refused, log });
});
