// Writes llms.txt, the index of the documentation for language models, from README.md and docs/README.md; --check fails if it
// is out of date.
import { readFileSync, writeFileSync } from 'node:fs';
import { posix } from 'node:path';
import { fileURLToPath } from 'node:url';

const at = (path) => fileURLToPath(new URL(`../${path}`, import.meta.url));
const read = (path) => readFileSync(at(path), 'utf8');
const ROW = /^\| (?<question>[^|]+) \| (?<pages>.*\]\(.*) \|$/gm;
const LINK = /\[([^\]]+)\]\(([^)]+)\)/g;

/** Of the table: the question, and a link for each page that answers it. */
function linesOf({ question, pages }) {
  const links = [...pages.matchAll(LINK)];
  return links.map(([, title, target]) => `- [${title}](${posix.join('docs', target)}): ${question}`);
}

/** What stands above the first heading of the README: its name, and what it is. */
function introduction() {
  const [title, ...rest] = read('README.md').split(/^## /m)[0].trim().split('\n');
  const text = rest.join('\n').split('```')[0].trim().replaceAll('**', '');
  return [title, '', ...text.split('\n').map((line) => `> ${line}`.trimEnd())];
}

const rows = [...read('docs/README.md').matchAll(ROW)].map(({ groups }) => groups);
const text = [...introduction(), '', '## Documentation', '', ...rows.flatMap(linesOf), ''].join('\n');

if (!process.argv.includes('--check')) writeFileSync(at('llms.txt'), text);
else if (read('llms.txt') !== text) {
  process.stderr.write('llms.txt is out of date; run pnpm docs:llms\n');
  process.exitCode = 1;
}
