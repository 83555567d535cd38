// Every program by LangGraph alone, by the engine, and killed after each of its calls: what came out otherwise.
//   pnpm compare:programs
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { isDeepStrictEqual } from 'node:util';
import { programFile } from '../support/programFile.ts';
import { cameTo, driveByLangGraph, driveDurably, wantedOf } from './drive.ts';
import { goOn, killAt, wholeOf } from './killed.ts';
import type { Program } from './Program.ts';
import { programs } from './programs.ts';

const root = mkdtempSync(join(tmpdir(), 'devs-programs-'));
const child = programFile(new URL('killed.child.ts', import.meta.url));
let folders = 0;
const newFolder = (): string => {
  folders += 1;
  return join(root, `${folders}`);
};

interface Row {
  readonly checkpoints: number;
  readonly questions: number;
  readonly calls: number;
  /** What came out otherwise, in words. */
  readonly otherwise: readonly string[];
}

async function compare(topic: string, name: string, program: Program): Promise<Row> {
  const plain = await driveByLangGraph(program, newFolder());
  const own = await driveDurably(program, newFolder());
  const calls = own.effects.length;
  const isSame = isDeepStrictEqual(cameTo(own), wantedOf(plain));
  const otherwise = isSame ? [] : [name];
  for (let diesAfter = 1; program.isKilled !== false && diesAfter <= calls; diesAfter += 1) {
    const place = { topic, name, dir: newFolder(), diesAfter };
    await killAt(child, [place]);
    if (!isDeepStrictEqual(await goOn(program, place), wholeOf(plain)))
      otherwise.push(`${name}, killed after call ${diesAfter}`);
  }
  return { checkpoints: plain.history.length, questions: plain.asked.flat().length, calls, otherwise };
}

const sum = (rows: readonly Row[], of: 'checkpoints' | 'questions' | 'calls'): number =>
  rows.reduce((total, row) => total + row[of], 0);

const say = (cells: readonly unknown[]): void => {
  process.stdout.write(`| ${cells.join(' | ')} |\n`);
};

try {
  say(['', 'programs', 'checkpoints', 'questions', 'calls, a kill after each', 'otherwise than LangGraph']);
  say(['---', '---:', '---:', '---:', '---:', '---:']);
  const every: Row[] = [];
  for (const [topic, each] of Object.entries(programs)) {
    const rows: Row[] = [];
    for (const [name, program] of Object.entries(each)) rows.push(await compare(topic, name, program));
    const otherwise = rows.flatMap((row) => row.otherwise);
    say([
      topic,
      rows.length,
      sum(rows, 'checkpoints'),
      sum(rows, 'questions'),
      sum(rows, 'calls'),
      otherwise.length,
    ]);
    for (const words of otherwise) process.stderr.write(`${words}\n`);
    every.push(...rows);
  }
  const otherwise = every.flatMap((row) => row.otherwise);
  say([
    'all',
    every.length,
    sum(every, 'checkpoints'),
    sum(every, 'questions'),
    sum(every, 'calls'),
    otherwise.length,
  ]);
  if (otherwise.length > 0) process.exitCode = 1;
} finally {
  rmSync(root, { recursive: true });
}
