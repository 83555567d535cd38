// `pnpm bench:agents [--only REPOSITORY[/WAY]]… [--json] [--help]`: requests and tokens of a coding CLI alone, of the same CLI
// through devs, and of the model agents, for the same briefs. See docs/internals/benchmarks.md.
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { claude as CLI } from '../../agents/test/clis/codingClis.ts';
import { table } from '../../core/bench/state/figures.ts';
import { trialBin } from '../test/trial/trialBin.ts';
import { ROW_HEAD, ratiosOf, rowCells } from './agents/figures.ts';
import type { Job } from './agents/Job.ts';
import { JOBS } from './agents/jobs.ts';
import { ModelOffice } from './agents/ModelOffice.ts';
import { measure, type Row } from './agents/measure.ts';
import { Programs } from './agents/Programs.ts';
import { Sources } from './agents/Sources.ts';
import { WAYS, type Way } from './agents/ways.ts';

const HELP = `Usage: pnpm bench:agents [--only REPOSITORY[/WAY]]... [--sources DIR] [--bin FILE] [--keep] [--json]

Takes a brief from an issue of each of three real repositories to a commit, in three ways, with one scripted developer behind
a model server on loopback, and counts requests and tokens as they are sent (4 bytes are a token). Every commit is judged
in a fresh clone, by the checks of the repository and a test that nobody has seen.

  --only WHAT    a repository, or one way of it: ufo, ufo/bare; may be given several times
  --sources DIR  bare repositories OWNER+NAME in this folder, in the place of GitHub
  --bin FILE     a devs command of another version, as one file
  --keep         the folders stay, and are named
  --json         one JSON document on stdout; progress is on stderr in any case

Repositories: ${JOBS.map(({ name, repository, commit }) => `${name} (${repository} ${commit.slice(0, 8)})`).join(', ')}
Ways:
${WAYS.map(([way, what]) => `  ${way.padEnd(15)}${what}`).join('\n')}

Repositories, their tools and the CLI are fetched once, into a folder below the temporary one.
Exits with 1 when a way does not come to a right commit, with 130 after Ctrl-C.`;

const say = (line: string): void => void process.stderr.write(`${line}\n`);

function chosen(only: readonly string[]): readonly (readonly [Job, Way])[] {
  const all = JOBS.flatMap((job) => WAYS.map(([way]) => [job, way] as const));
  const matches = (what: string, [job, way]: readonly [Job, Way]): boolean =>
    what === job.name || what === `${job.name}/${way}`;
  const unknown = only.filter((what) => !all.some((each) => matches(what, each)));
  if (unknown.length > 0) throw new TypeError(`There is no ${unknown.join(', ')}.\n\n${HELP}`);
  return only.length === 0 ? all : all.filter((each) => only.some((what) => matches(what, each)));
}

interface Options {
  readonly works: readonly (readonly [Job, Way])[];
  readonly sources: string | undefined;
  readonly bin: string | undefined;
  readonly isKeeping: boolean;
}

async function measureAll({ works, sources: from, bin: given, isKeeping }: Options): Promise<readonly Row[]> {
  const programs = new Programs();
  for (const signal of ['SIGINT', 'SIGTERM'] as const)
    process.once(signal, () => {
      process.exitCode = 130;
      programs.stop();
    });
  const cache = join(tmpdir(), `devs-bench-agents-${process.getuid?.() ?? 0}`);
  const sources = new Sources({ cache, from, say, programs });
  const clis = await sources.cli(CLI);
  const { bin, remove } = given === undefined ? await trialBin() : { bin: given, remove: () => undefined };
  const office = await ModelOffice.open(() => programs.stop());
  const onKept = isKeeping ? (dir: string) => say(`kept: ${dir}`) : undefined;
  const rows: Row[] = [];
  try {
    for (const [index, [job, way]] of works.entries()) {
      say(`${index + 1}/${works.length} ${job.name}, ${way}`);
      const row = await measure(job, way, { office, sources, programs, clis, bin, onKept });
      say(`  ${row.requests} requests, ${row.tokensIn} tokens in, commit is right`);
      rows.push(row);
    }
    return rows;
  } finally {
    await office.close();
    remove();
  }
}

function print(rows: readonly Row[]): void {
  const ratios = ratiosOf(rows);
  const cells = ratios.map(({ repository, way, requests, tokens }) => [repository, way, requests, tokens]);
  say('');
  process.stdout.write(`${table(ROW_HEAD, rows.map(rowCells))}\n`);
  if (ratios.length > 0)
    process.stdout.write(`\n${table(['beside the CLI alone', 'way', 'requests', 'tokens'], cells)}\n`);
}

async function main(): Promise<void> {
  const { values } = parseArgs({
    options: {
      help: { type: 'boolean', default: false },
      json: { type: 'boolean', default: false },
      keep: { type: 'boolean', default: false },
      only: { type: 'string', multiple: true, default: [] },
      sources: { type: 'string' },
      bin: { type: 'string' },
    },
  });
  if (values.help) return void process.stdout.write(`${HELP}\n`);
  const { sources, bin, keep: isKeeping } = values;
  const rows = await measureAll({ works: chosen(values.only), sources, bin, isKeeping });
  if (values.json) process.stdout.write(`${JSON.stringify({ rows, ratios: ratiosOf(rows) })}\n`);
  else print(rows);
}

try {
  await main();
} catch (error) {
  if (process.exitCode !== 130) {
    say((error as Error).message);
    process.exitCode = 1;
  }
}
