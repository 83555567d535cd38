// Writes llms.txt, the index of the documentation for language models, from README.md and docs/README.md; --check fails if it
// is out of date.
import { readFileSync, writeFileSync } from 'node:fs';
import { posix } from 'node:path';
import { fileURLToPath } from 'node:url';

const at = (path) => fileURLToPath(new URL(`../${path}`, import.meta.url));
const read = (path) => readFileSync(at(path), 'utf8');
const ROW = /^\| (?<pages>\[.*\)) \| (?<answers>[^|]+) \|$/gm;
const LINK = /\[([^\]]+)\]\(([^)]+)\)/g;

/** A link for each page of a row, with the question it answers. */
function linesOf({ pages, answers }) {
  const links = [...pages.matchAll(LINK)];
  return links.map(([, title, target]) => `- [${title}](${posix.join('docs', target)}): ${answers}`);
}

/** A list of docs/README.md: its heading and the pages of its table. */
function shelfOf(section) {
  const [heading] = section.split('\n', 1);
  const rows = [...section.matchAll(ROW)].map(({ groups }) => groups);
  return [`## ${heading}`, '', ...rows.flatMap(linesOf), ''];
}

/** What stands above the first heading of the README: its name, and what it is. */
function introduction() {
  const [title, ...rest] = read('README.md').split(/^## /m)[0].trim().split('\n');
  const text = rest.join('\n').split('```')[0].trim().replaceAll('**', '');
  return [title, '', ...text.split('\n').map((line) => `> ${line}`.trimEnd())];
}

const [, ...shelves] = read('docs/README.md').split(/^## /m);
const text = [...introduction(), '', ...shelves.flatMap(shelfOf)].join('\n');

if (!process.argv.includes('--check')) writeFileSync(at('llms.txt'), text);
else if (read('llms.txt') !== text) {
  process.stderr.write('llms.txt is out of date; run pnpm docs:llms\n');
  process.exitCode = 1;
}
