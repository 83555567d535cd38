import { faultsOf, type Row } from './runTrial.ts';

/** What is counted over all rows; all but the first has to be 0. */
export function sumsOf(rows: readonly Row[]) {
  const sum = (count: (row: Row) => number): number => rows.reduce((all, row) => all + count(row), 0);
  return {
    right: sum(({ commits }) => commits.right),
    wrong: sum(({ commits }) => commits.wrong),
    refused: sum(({ refused }) => refused),
    paidBeforeTold: sum(({ paidBeforeTold }) => paidBeforeTold),
    asked: sum(({ asked }) => asked.length),
    askedWithoutNeed: sum(({ askedWithoutNeed }) => askedWithoutNeed.length),
  };
}

const HEAD = [
  'repository',
  'agent',
  'over',
  'right',
  'wrong',
  'refused',
  'paid',
  'asked',
  'no need',
  'requests',
  'tokens',
  'minutes',
  '  typed',
];
const WIDTHS = [28, 17, 9, 7, 7, 9, 6, 7, 9, 10, 9, 9];

const cells = (texts: readonly string[]): string =>
  texts
    .map((text, at) => (at < 3 ? text.padEnd(WIDTHS[at] ?? 0) : text.padStart(WIDTHS[at] ?? 0)))
    .join('')
    .trimEnd();

const lineOf = (row: Row): string =>
  cells([
    row.repository,
    row.agent,
    row.transport,
    `${row.commits.right}`,
    `${row.commits.wrong}`,
    `${row.refused}`,
    `${row.paidBeforeTold}`,
    `${row.asked.length}`,
    `${row.askedWithoutNeed.length}`,
    `${row.requests}`,
    `${row.tokens}`,
    minutes(row.seconds),
    `  ${verbsOf(row)}`,
  ]);

const minutes = (seconds: number): string => (seconds / 60).toFixed(1);

/** `run, approve ×2` */
function verbsOf({ typed }: Row): string {
  const verbs = typed.map((line) => line.split(' ')[0] ?? '');
  const each = [...new Set(verbs)].map(
    (verb) => [verb, verbs.filter((other) => other === verb).length] as const,
  );
  return each.map(([verb, times]) => (times === 1 ? verb : `${verb} ×${times}`)).join(', ');
}

/** @param notRun - Combinations for which no time was left. */
export function renderTable(rows: readonly Row[], notRun: number): string {
  const { right, wrong, refused, paidBeforeTold, asked, askedWithoutNeed } = sumsOf(rows);
  const seconds = rows.reduce((all, row) => all + row.seconds, 0);
  const requests = rows.reduce((all, row) => all + row.requests, 0);
  const tokens = rows.reduce((all, row) => all + row.tokens, 0);
  const red = rows.filter((row) => faultsOf(row).length > 0);
  return [
    cells(HEAD),
    ...rows.map(lineOf),
    cells([
      `${rows.length} trials${notRun > 0 ? `, ${notRun} not run` : ''}`,
      '',
      '',
      ...[right, wrong, refused, paidBeforeTold, asked, askedWithoutNeed, requests, tokens].map(String),
      minutes(seconds),
    ]),
    ...red.flatMap((row) => [
      '',
      `FAILED ${row.repository}/${row.agent}/${row.transport}: ${faultsOf(row).join(', ')}`,
      ...reasonsOf(row),
    ]),
    '',
  ].join('\n');
}

/** What is wrong with a trial, a line each, indented. */
export const reasonsOf = (row: Row): readonly string[] =>
  [`asked: ${row.asked.join(', ') || 'nobody'}`, ...row.why].map(
    (line) => `  ${line.replaceAll('\n', '\n  ')}`,
  );
