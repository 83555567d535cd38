import { spawnSync } from 'node:child_process';
import { randomInt } from 'node:crypto';
import { readFileSync, realpathSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { describe, expect } from 'vitest';
import type { Durability } from '../../../src/config/durability.ts';
import { createDatabase } from '../../../src/db/createDatabase.ts';
import { durable } from '../../../src/engine/app/durable.ts';
import { makeStateFile, test } from '../../support/fixtures.ts';
import { howMany } from '../../support/howMany.ts';
import { longer } from '../../support/longer.ts';
import { programFile } from '../../support/programFile.ts';
import { tried } from '../../support/tried.ts';
import { ANSWER, cutGraph, INPUT, RUN } from './cutGraph.ts';
import { actsIn, type DiskAct, type Fate, imageOf, layOut } from './diskImages.ts';

// The power goes at any moment: of what the run's process wrote, the disk has what was flushed, and of the rest any sectors. The
// writes are those of a real process, as strace sees them.

const IMAGES = howMany('DEVS_POWER_CUTS', 6);
const child = new URL('powerCut.child.ts', import.meta.url);
const MODES = ['async', 'sync'] as const;
const isTraced = spawnSync('strace', ['true']).status === 0;
const here = isTraced ? '' : ' (left out on this machine: strace)';

const FATES: Readonly<Record<string, Fate>> = {
  'nothing of the rest': () => 'dropped',
  'some of the rest': () => (randomInt(2) === 0 ? 'kept' : 'dropped'),
  'all of the rest': () => 'kept',
};

/** Branches of the graph that may be in flight. */
const BRANCHES = 2;

interface Traced {
  readonly acts: readonly DiskAct[];
  readonly before: Buffer;
  readonly paths: { readonly state: string; readonly log: string; readonly facts: string };
}

/** What a process does to its state file, from the start of a run to its end. */
function traced(dbPath: string, durability: Durability): Traced {
  makeStateFile(dbPath);
  const before = readFileSync(dbPath);
  const dir = realpathSync(dirname(dbPath));
  const state = join(dir, 'state.sqlite');
  const paths = { state, log: `${state}-wal`, facts: join(dir, 'facts') };
  writeFileSync(paths.facts, '');
  const trace = join(dir, 'trace');
  const seen = ['-e', 'trace=write,pwrite64,pwritev,fsync,fdatasync,ftruncate', '-e', 'signal=none'];
  const files = Object.values(paths).flatMap((path) => ['-P', path]);
  const strace = ['-qq', '-y', '-xx', '-s', String(2 ** 24), '-o', trace, ...seen, ...files];
  const program = [process.execPath, programFile(child), paths.state, paths.facts, durability];
  const { stderr } = spawnSync('strace', [...strace, ...program]);
  const acts = actsIn(readFileSync(trace, 'latin1'));
  expect([String(stderr), factsIn(acts, paths.facts).at(-1)]).toEqual(['', 'ended']);
  return { acts, before, paths };
}

const factsIn = (acts: readonly DiskAct[], facts: string): readonly string[] =>
  acts.flatMap((act) => (act.kind === 'write' && act.file === facts ? [act.bytes.toString().trimEnd()] : []));

/** What the next life did, and what was wrong. */
interface Verdict {
  readonly wrong: readonly string[];
  readonly callsAgain: number;
  readonly nodesAgain: number;
}

/** The next process goes on with what the disk has. */
async function judged({ acts, before, paths }: Traced, at: string, fate: Fate, durability: Durability) {
  layOut(at, [imageOf(paths.state, before, acts, fate), imageOf(paths.log, Buffer.alloc(0), acts, fate)]);
  const facts = factsIn(acts, paths.facts);
  const db = createDatabase({ dbPath: at });
  const lost = lostIn(facts, (sql) => db.prepare<[], string>(sql).pluck().all());
  const integrity = db.pragma('integrity_check', { simple: true });
  db.pragma('synchronous = OFF');
  const again: string[] = [];
  const app = durable(
    cutGraph((fact) => again.push(fact)),
    { db, durability },
  );
  let ended = await app.run(RUN, INPUT);
  for (const gate of ended.gates) {
    again.push('asked');
    await app.decide(gate, ANSWER);
    ended = await app.run(RUN);
  }
  app.close();
  db.close();
  const calls = again.filter((fact) => fact.startsWith('called ') && facts.includes(fact));
  const paid = calls.filter((fact) => facts.includes(fact.replace('called', 'used')));
  const nodes = again.filter(
    (fact) => fact.startsWith('ran ') && !fact.startsWith('ran ask') && facts.includes(fact),
  );
  const kept = nodes.filter((fact) => !mayBeLost(fact.replace('ran', 'left'), acts, paths));
  const decidedTwice =
    again.includes('asked') && facts.includes('decided') ? ['a decision is asked again'] : [];
  const verdict: Verdict = {
    wrong: [
      ...lost,
      ...decidedTwice,
      ...(integrity === 'ok' ? [] : [`integrity: ${String(integrity)}`]),
      ...paid.map((fact) => `a call with a result was repeated: ${fact}`),
      ...kept.map((fact) => `a node that was on disk ran again: ${fact}`),
      ...(calls.length > BRANCHES ? [`calls in flight: ${calls.join()}`] : []),
      ...(durability === 'sync' && nodes.length > BRANCHES ? [`nodes in flight: ${nodes.join()}`] : []),
      ...(ended.status === 'completed' ? [] : [`it ends as ${ended.status}`]),
      ...(ended.values?.log.length === LENGTH ? [] : [`other values: ${JSON.stringify(ended.values)}`]),
    ],
    callsAgain: calls.length,
    nodesAgain: nodes.length,
  };
  return verdict;
}

/** Entries that the log of the run has at its end. */
const LENGTH = 11;

/** What was told to somebody, and is not in the file. */
function lostIn(facts: readonly string[], read: (sql: string) => readonly string[]): readonly string[] {
  const begun = read('SELECT name FROM agent_steps');
  const done = read("SELECT name FROM agent_steps WHERE state = 'done'");
  const log = read("SELECT json_extract(payload_json, '$.node') FROM events WHERE name = 'NODE_FINISHED'");
  const asked = read('SELECT status FROM hitl_sessions');
  const ended = read("SELECT status FROM threads WHERE status = 'completed'");
  const told = (word: string): readonly string[] =>
    facts.flatMap((fact) => (fact.startsWith(`${word} `) ? [fact.slice(word.length + 1)] : []));
  const count = (all: readonly string[], name: string): number => all.filter((each) => each === name).length;
  const steps = new Set(begun.map((name) => stepOf(name)));
  const results = new Set(done.map((name) => stepOf(name)));
  return [
    ...told('called')
      .filter((name) => !steps.has(name))
      .map((name) => `no intent of ${name}`),
    ...told('used')
      .filter((name) => !results.has(name))
      .map((name) => `no result of ${name}`),
    ...told('event')
      .filter((node) => count(log, node) < count(told('event'), node))
      .map((node) => `no event of ${node}`),
    ...(facts.includes('asked') && asked.length === 0 ? ['no question'] : []),
    ...(facts.includes('decided') && !asked.some((status) => status !== 'awaiting_approval')
      ? ['no decision']
      : []),
    ...(facts.includes('ended') && ended.length === 0 ? ['no end'] : []),
  ];
}

const stepOf = (name: string): string => name.split('/').at(-1) ?? name;

/** Whether a node has not ended, or not two commits ago: what it wrote may have waited for the next one. */
function mayBeLost(left: string, acts: readonly DiskAct[], { log, facts }: Traced['paths']): boolean {
  const at = acts.findIndex(
    (act) => act.kind === 'write' && act.file === facts && act.bytes.toString().trimEnd() === left,
  );
  const commits = acts.filter((act, nth) => nth > at && act.kind === 'flush' && act.file === log).length;
  return at < 0 || commits < 2;
}

describe(`a power cut at any moment, ${IMAGES} times a mode${here}`, () => {
  test.for(isTraced ? MODES : [])(
    'loses nothing that was told to anybody, and repeats no more than it may: %s',
    { timeout: longer(120_000, IMAGES / 40) },
    async (durability, { annotate, dbPath, task }) => {
      const whole = traced(dbPath, durability);
      const again = { calls: {} as Record<number, number>, nodes: {} as Record<number, number> };
      const wrong: string[] = [];
      const fates = Object.entries(FATES);
      for (let nth = 0; nth < IMAGES; nth += 1) {
        const cut =
          1 +
          Math.floor((nth / IMAGES) * whole.acts.length) +
          randomInt(Math.ceil(whole.acts.length / IMAGES));
        const [what, fate] = fates[nth % fates.length] as (typeof fates)[number];
        const until = { ...whole, acts: whole.acts.slice(0, cut) };
        const verdict = await judged(until, `${dbPath}.${nth}`, fate, durability);
        again.calls[verdict.callsAgain] = (again.calls[verdict.callsAgain] ?? 0) + 1;
        again.nodes[verdict.nodesAgain] = (again.nodes[verdict.nodesAgain] ?? 0) + 1;
        wrong.push(...verdict.wrong.map((why) => `${cut} of ${whole.acts.length}, ${what}: ${why}`));
      }
      tried(task, { ways: IMAGES, through: wrong.length });
      await annotate(`made again, times by number: ${JSON.stringify(again)}`);
      expect(wrong).toEqual([]);
      // The same on a disk that flushes nothing has lost what it was told.
      const unflushed = { ...whole, acts: whole.acts.filter(({ kind }) => kind !== 'flush') };
      const found = await judged(unflushed, `${dbPath}.unflushed`, () => 'dropped', durability);
      expect(found.wrong).toEqual(
        expect.arrayContaining(['no result of one', 'no question', 'no decision', 'no end']),
      );
    },
  );

  test('leaves what was flushed, and of the rest what the disk had come to', () => {
    const write = (at: number, text: string): DiskAct => ({
      kind: 'write',
      file: 'a',
      at,
      bytes: Buffer.from(text),
    });
    const acts: readonly DiskAct[] = [
      write(0, 'old'),
      { kind: 'flush', file: 'a' },
      write(0, 'new'),
      { kind: 'flush', file: 'b' },
      { kind: 'truncate', file: 'a', to: 1 },
    ];
    const image = (fate: Fate): string => imageOf('a', Buffer.from('....'), acts, fate).toString();
    expect([image(() => 'dropped'), image(() => 'kept')]).toEqual(['old.', 'n']);
  });
});
