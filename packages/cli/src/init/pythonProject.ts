import { existsSync } from 'node:fs';
import { readdir, readFile } from 'node:fs/promises';
import path from 'node:path';
import type { DetectedChecks } from './DetectedChecks.ts';
import type { GitFacts } from './gitFacts.ts';

/** A project of one of these is one of Python. */
const MANIFESTS = [
  'pyproject.toml',
  'setup.py',
  'setup.cfg',
  'requirements.txt',
  'tox.ini',
  'pytest.ini',
] as const;

/** Where pytest is named, or set up. */
const NAMES_PYTEST = /\bpytest\b/;

/**
 * The checks of a project of Python: pytest, in the environment of uv where there is one; `null` for another project. Checks run
 * without network, so uv installs in setup alone.
 */
export async function pythonProject(
  root: string,
  git: Pick<GitFacts, 'keeps'>,
): Promise<DetectedChecks | null> {
  const texts = await Promise.all(
    MANIFESTS.map((name) => readFile(path.join(root, name), 'utf8').catch(() => null)),
  );
  if (texts.every((text) => text === null)) return null;
  const usesUv = existsSync(path.join(root, 'uv.lock')) || /^\[tool\.uv\b/m.test(texts[0] ?? '');
  const hasTests = texts.some((text) => NAMES_PYTEST.test(text ?? '')) || (await hasTestFiles(root));
  const run = usesUv ? ['uv', 'run', '--no-sync', 'pytest'] : ['python3', '-m', 'pytest'];
  const checks = hasTests ? [{ name: 'pytest', dir: '.', argv: run }] : [];
  if (!usesUv) return { checks, hints: [WITHOUT_UV] };
  const isLocked = (await git.keeps(['uv.lock'])).length > 0;
  return { checks, setup: isLocked ? ['uv', 'sync', '--locked'] : ['uv', 'sync'], hints: [] };
}

const WITHOUT_UV =
  'Python without uv: checks use the Python of your PATH; to install into the run, set "setup", for example ' +
  '["sh", "-c", "python3 -m venv .venv && .venv/bin/pip install -r requirements.txt"], and let the check run .venv/bin/python';

async function hasTestFiles(root: string): Promise<boolean> {
  const folders = ['.', 'tests', 'test'].map((name) => readdir(path.join(root, name)).catch(() => []));
  return (await Promise.all(folders)).flat().some((name) => /^(?:test_.*|.*_test|conftest)\.py$/.test(name));
}
