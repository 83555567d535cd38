// Documentation that can be checked: relative links lead somewhere, every DEVS_* variable is documented.
import { execFileSync } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

const root = fileURLToPath(new URL('..', import.meta.url));
const read = (path) => readFileSync(join(root, path), 'utf8');
const LINK = /\]\(([^)\s#]+)(?:#[^)]*)?\)/g;
const CODE = /^ {0,3}```[\s\S]*?^ {0,3}```|`[^`\n]*`/gm;

/** Tracked and new files, without what git ignores. */
function filesNamed(...patterns) {
  const args = ['ls-files', '-z', '--cached', '--others', '--exclude-standard', '--', ...patterns];
  const listed = execFileSync('git', args, { cwd: root, encoding: 'utf8' });
  return listed.split('\0').filter((path) => path !== '' && existsSync(join(root, path)));
}

function brokenLinks(path) {
  return [...read(path).replaceAll(CODE, '').matchAll(LINK)]
    .map(([, target]) => target)
    .filter((target) => !/^[a-z]+:/.test(target))
    .filter((target) => !existsSync(join(root, dirname(path), target)))
    .map((target) => `${path}: leads nowhere: ${target}`);
}

function undocumentedVariables() {
  const documented = read('docs/configuration.md');
  const sources = filesNamed('packages/*/src/**/*.ts').filter((path) => !path.includes('__tests__'));
  const used = new Set(sources.flatMap((path) => read(path).match(/\bDEVS_[A-Z_]+\b/g) ?? []));
  return [...used]
    .filter((name) => !documented.includes(`\`${name}\``))
    .map((name) => `docs/configuration.md: no ${name}`);
}

const pages = filesNamed('*.md');
const complaints = [...pages.flatMap(brokenLinks), ...undocumentedVariables()];
for (const complaint of complaints) process.stderr.write(`${complaint}\n`);
process.stdout.write(`docs: ${pages.length} pages, ${complaints.length} complaints\n`);
process.exitCode = complaints.length === 0 ? 0 : 1;
