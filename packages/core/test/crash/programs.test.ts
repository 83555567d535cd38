import { randomInt } from 'node:crypto';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, test } from 'vitest';
import { cameTo, type Driven, driveByLangGraph, driveDurably, wantedOf } from '../programs/drive.ts';
import { goOn, killAt, type Place, wholeOf } from '../programs/killed.ts';
import type { Program } from '../programs/Program.ts';
import { programs } from '../programs/programs.ts';
import { howMany } from '../support/howMany.ts';
import { programFile } from '../support/programFile.ts';
import { tried } from '../support/tried.ts';

const all = Object.entries(programs)
  .flatMap(([topic, each]) => Object.entries(each).map(([name, program]) => ({ topic, name, program })))
  .filter(({ program }) => program.isKilled !== false);

/** Kills of each program, each after another of its calls; all of them, if there are no more. By default of every fourth one. */
const KILLS = howMany('DEVS_PROGRAM_KILLS', 1);
/** Programs that die with one process; in the long form each dies alone, in the very moment of its call. */
const TOGETHER = KILLS === 1 ? all.length : 1;
const FIRST = Number(process.env['DEVS_PROGRAM_FIRST'] ?? randomInt(1_000));

const root = mkdtempSync(join(tmpdir(), 'devs-programs-'));
afterAll(() => rmSync(root, { recursive: true }));

let folders = 0;
const newFolder = (): string => {
  folders += 1;
  return join(root, `${folders}`);
};

const ran = new Map<Program, { readonly plain: Driven; readonly own: Driven }>();

async function bothWays(program: Program) {
  const known = ran.get(program);
  if (known !== undefined) return known;
  const plain = await driveByLangGraph(program, newFolder());
  const own = await driveDurably(program, newFolder());
  ran.set(program, { plain, own });
  return { plain, own };
}

describe.each(Object.entries(programs))('a program of %s, run by the engine', (_topic, each) => {
  test.each(Object.entries(each))('is as by LangGraph alone: %s', async (_name, program) => {
    const { plain, own } = await bothWays(program);
    expect(cameTo(own)).toStrictEqual(wantedOf(plain));
  });
});

describe('every program, killed after one of its calls and driven on by another process', () => {
  const child = programFile(new URL('../programs/killed.child.ts', import.meta.url));

  test('ends as by LangGraph alone, every recorded call made once', {
    timeout: 60_000 + KILLS * 60_000,
  }, async ({ annotate, task }) => {
    const killed: { readonly place: Place; readonly program: Program }[] = [];
    const chosen = all.filter((_, index) => KILLS > 1 || index % 4 === FIRST % 4);
    for (const { topic, name, program } of chosen) {
      const calls = (await bothWays(program)).own.effects.length;
      for (let kill = 0; kill < Math.min(KILLS, calls); kill += 1) {
        const diesAfter = ((FIRST + kill) % calls) + 1;
        killed.push({ program, place: { topic, name, dir: newFolder(), diesAfter } });
      }
    }
    tried(task, { ways: killed.length });
    await annotate(`DEVS_PROGRAM_FIRST=${FIRST}: ${killed.length} kills of ${chosen.length} programs`);
    for (let at = 0; at < killed.length; at += TOGETHER) {
      const some = killed.slice(at, at + TOGETHER);
      await killAt(
        child,
        some.map(({ place }) => place),
      );
      for (const { program, place } of some) {
        const { plain } = await bothWays(program);
        expect({ place, ...(await goOn(program, place)) }).toStrictEqual({ place, ...wholeOf(plain) });
      }
    }
  });
});
