// `pnpm release:version` runs it in the root, once bumpp has set the new version: what is under *Unreleased* becomes its section.
import { readFileSync, writeFileSync } from 'node:fs';

const LOG = 'CHANGELOG.md';
const { version } = JSON.parse(readFileSync('packages/core/package.json', 'utf8'));
const log = readFileSync(LOG, 'utf8');
const [head, ...rest] = log.split('\n## Unreleased\n');

if (rest.length !== 1 || /^\s*(?:## |$)/.test(rest[0])) {
  process.stderr.write(`${LOG} says nothing under Unreleased: there is nothing to release.\n`);
  process.exitCode = 1;
} else {
  writeFileSync(LOG, `${head}\n## Unreleased\n\n## ${version}\n${rest[0]}`);
}
