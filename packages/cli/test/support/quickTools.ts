import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { delimiter, join } from 'node:path';
import { execPath } from 'node:process';
import { afterAll, beforeAll, vi } from 'vitest';
import { RUN_NODE_TESTS } from '../../../core/test/support/nodeTests.ts';

/** `node --test` in one process. */
const NODE = `[ "$*" != --test ] || exec '${execPath}' "\${0%/*}/runTests.mjs"
exec '${execPath}' "$@"`;

/** What `npm test` prints and does. */
const NPM = `case "$*" in
  test | 'run test')
    package=$(sed -n 's/.*"name": *"\\([^"]*\\)".*/\\1/p' package.json)
    script=$(sed -n 's/.*"test": *"\\([^"]*\\)".*/\\1/p' package.json)
    printf '\\n> %stest\\n> %s\\n\\n' "\${package:+$package }" "$script"
    exec /bin/sh -c "$script" ;;
  *) PATH="\${PATH#*:}" exec npm "$@" ;;
esac`;

/**
 * For all tests of a file: programs in front of the `PATH` that test a project as those of the machine do, and start faster.
 * The long form of such a file does without.
 */
export function quickTools(): void {
  const folder = mkdtempSync(join(tmpdir(), 'devs-tools-'));
  for (const [name, body] of Object.entries({ node: NODE, npm: NPM }))
    writeFileSync(join(folder, name), `#!/bin/sh\n${body}\n`, { mode: 0o755 });
  writeFileSync(join(folder, 'runTests.mjs'), RUN_NODE_TESTS);
  beforeAll(() => void vi.stubEnv('PATH', `${folder}${delimiter}${process.env['PATH']}`));
  afterAll(() => {
    vi.unstubAllEnvs();
    rmSync(folder, { recursive: true });
  });
}
