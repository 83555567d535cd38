// What a kind of attack has come to, read from the report of its tests, and the table of all kinds.

const SECTION = '## What stays open';
const ITEM =
  /^\*\*(?<name>.+?)\*\* \((?<kinds>\[.+?\]\([\w./-]*#[\w-]+\)(?:, \[.+?\]\([\w./-]*#[\w-]+\))*)\): (?<text>.+)$/;

/**
 * The list of docs/internals/security.md: `- **Name** ([kind](#section), …): text.`
 * @returns `{ name, kinds: { kind: link }, text }` of each; a link is relative to docs/internals/
 * @throws Error at an item that is not of that form
 */
export function readOpen(page) {
  const [, after] = page.split(`\n${SECTION}\n`);
  if (after === undefined) throw new Error(`docs/internals/security.md has no section "${SECTION}".`);
  const [section] = after.split('\n## ');
  return section
    .split(/^- /m)
    .slice(1)
    .map((item) => {
      const line = item
        .split('\n\n')[0]
        .replaceAll(/\s*\n\s*/g, ' ')
        .trim();
      const { name, kinds, text } = ITEM.exec(line)?.groups ?? {};
      if (name === undefined)
        throw new Error(`docs/internals/security.md, ${SECTION}: not of its form: ${line}`);
      const links = [...kinds.matchAll(/\[(.+?)\]\(([\w./-]*#[\w-]+)\)/g)].map(([, kind, anchor]) => [
        kind,
        anchor,
      ]);
      return { name, kinds: Object.fromEntries(links), text };
    });
}

const pageOf = (kind, open) => [
  ...new Set(open.flatMap(({ kinds }) => (kinds[kind] === undefined ? [] : [kinds[kind]]))),
];

const rowOf = ({ name, what }, seconds, open, counted) => {
  const { tried = 0, known = 0, through = 0, why = [], state } = counted;
  const page = pageOf(name, open);
  const unnamed = known > 0 && page.length === 0;
  const complaints = unnamed ? [...why, 'what succeeds is not on the page'] : why;
  const proven = through > 0 || complaints.length > 0 ? 'failed' : 'held';
  return { name, what, state: state ?? proven, tried, open: known, through, seconds, page, why: complaints };
};

/** A kind that was not tried, or not to its end: never counted as held. */
export const notRun = (kind, { seconds = 0, open, why }) =>
  rowOf(kind, seconds, open, { why: [why], state: 'not run' });

/** Ways of one test: what it counted, or one. */
function waysOf({ status, meta }) {
  const { ways = 1, open = 0, through = 0 } = meta?.tried ?? {};
  if (status !== 'failed') return { tried: ways, known: open, through };
  const failed = Math.max(1, through);
  return {
    tried: Math.max(ways, failed),
    known: Math.min(open, Math.max(0, ways - failed)),
    through: failed,
  };
}

const LEFT_OUT = /\((left out on this machine: [^)]*)\)/;

/**
 * @param kind its `files` are looked for in the report
 * @param report of Vitest, as JSON
 * @returns the row; a failed test came through, and so did what no test is left to try
 */
export function judge(kind, { report, seconds, open }) {
  const total = { tried: 0, known: 0, through: 0 };
  const why = [];
  const notes = new Set();
  for (const { path, titles = /(?:)/ } of kind.files) {
    const file = report.testResults.find(({ name }) => name.replaceAll('\\', '/').endsWith(path));
    const tests = (file?.assertionResults ?? []).filter(({ status }) =>
      ['passed', 'failed'].includes(status),
    );
    const attacks = tests.filter(({ status, fullName }) => titles.test(fullName) || status === 'failed');
    if (attacks.length === 0)
      why.push(`nothing was tried by ${path}${file?.message ? `: ${file.message}` : ''}`);
    for (const test of attacks) {
      const ways = waysOf(test);
      for (const key of Object.keys(total)) total[key] += ways[key];
      if (test.status === 'failed') why.push(`${path}: ${test.fullName}`);
      const [, left] = LEFT_OUT.exec(test.fullName) ?? [];
      if (left !== undefined) notes.add(left);
    }
  }
  if (why.length === 0 && report.success !== true)
    why.push('the tests ended with an error that is none of theirs');
  return { ...rowOf(kind, seconds, open, { ...total, why }), notes: [...notes] };
}

/** Of a rig's words `Not run, because …: what`. */
function reasonIn(stdout) {
  const [, reason = 'because the rig says so'] = /^Not run, (because .+?):/m.exec(stdout) ?? [];
  return `not run here, ${reason}`;
}

/** The same of a rig that prints `ok` or `FAIL` for each thing it proves, and exits with 75 where it cannot. */
export function judgeRig(kind, { stdout, code, seconds, open }) {
  const lines = stdout.split('\n').filter((line) => /^(?:ok {2}|FAIL) {2}/.test(line));
  if (code === 75) return notRun(kind, { seconds, open, why: reasonIn(stdout) });
  const failed = lines.filter((line) => line.startsWith('FAIL'));
  const why = failed.map((line) => line.slice(6));
  if (lines.length === 0) why.push('nothing was tried');
  else if (code !== 0 && failed.length === 0) why.push(`the rig ended with ${code}`);
  return rowOf(kind, seconds, open, { tried: lines.length, through: failed.length, why });
}

/** 1 where something came through, 75 where nothing did and not all was tried. */
export function exitCodeOf(rows) {
  if (rows.some(({ state }) => state === 'failed')) return 1;
  return rows.some(({ state }) => state === 'not run') ? 75 : 0;
}

const WIDTHS = [12, 56, 8, 7, 9, 7];
const cells = (...texts) =>
  texts
    .map((text, at) => (at < 2 ? text.padEnd(WIDTHS[at]) : at < 6 ? text.padStart(WIDTHS[at]) : `  ${text}`))
    .join('')
    .trimEnd();

function lineOf({ name, what, state, tried, open, through, seconds, page, why, notes = [] }) {
  if (state === 'not run') return cells(name, what, '-', '-', '-', '-', why.join('; '));
  const beside = [state === 'failed' ? 'FAILED' : '', ...page, ...notes].filter(Boolean).join(' ');
  return cells(name, what, `${tried}`, `${open}`, `${through}`, `${seconds.toFixed(0)} s`, beside);
}

/** @param open the list of the page, of which the items of these kinds are printed below */
export function renderTable(rows, open) {
  const ran = rows.filter(({ state }) => state !== 'not run');
  const sum = (key) => ran.reduce((all, row) => all + row[key], 0);
  const all = ['tried', 'open', 'through'].map((key) => `${sum(key)}`);
  const without = rows.length - ran.length;
  const named = open.filter(({ kinds }) => rows.some(({ name }) => name in kinds));
  return [
    cells('kind', 'what is tried', 'ways', 'open', 'through', 'time', 'named in docs/internals/security.md'),
    ...rows.map(lineOf),
    cells(
      'all',
      `${ran.length} kinds${without > 0 ? `, ${without} not run` : ''}`,
      ...all,
      `${sum('seconds').toFixed(0)} s`,
    ),
    ...rows
      .filter(({ state }) => state === 'failed')
      .flatMap(({ name, why }) => ['', `FAILED ${name}`, ...why.map((each) => `  ${each}`)]),
    ...(named.length > 0 ? ['', 'stays open, as docs/internals/security.md#what-stays-open says'] : []),
    ...named.map(({ name, kinds }) => `${Object.keys(kinds).join(', ').padEnd(24)}${name}`),
    '',
  ].join('\n');
}
