// The same flow on this engine and on its peers, each installed into a temporary folder, with real processes:
//   pnpm compare:peers [STACK...] [--kills N] [--seed S] [--json]
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { installation, medianCost, type RunCost, runCost } from './peers/costs.ts';
import { type Installed, install, NOT_TO_BE_HAD, STACKS, type StackName } from './peers/installing.ts';
import { judge } from './peers/judging.ts';
import { type Findings, render } from './peers/render.ts';
import { Stand } from './peers/Stand.ts';
import { postgresFolder } from './peers/services.ts';

const KNOWN = Object.keys(STACKS);
const HELP = `Usage: pnpm compare:peers [STACK...] [options]

Plays the same accidents on each stack and counts on an account outside of all. STACK: ${KNOWN.join(', ')}.

  --kills N   random kills per stack (default 40)
  --seed S    where the random moments begin (default 1)
  --json      print what was found as JSON

Examples:
  pnpm compare:peers
  pnpm compare:peers devs dbos --kills 10`;

const COST_ROUNDS = 5;

/** Mulberry32: numbers in [0, 1) that a seed repeats. */
function randomFrom(seed: number): () => number {
  let state = seed;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
}

/** Why a stack cannot be measured here; null if it can. */
function obstacle(name: string): string | null {
  const out = NOT_TO_BE_HAD[name];
  if (out !== undefined) return out;
  const needsPostgres = STACKS[name as StackName].service === 'postgres';
  return needsPostgres && postgresFolder() === null ? 'there is no PostgreSQL server on this machine' : null;
}

const say = (what: string): boolean => process.stderr.write(`${what}\n`);

/** The stacks take turns, so that what disturbs one disturbs all. */
async function costsOf(all: readonly Installed[]): Promise<ReadonlyMap<Installed, readonly RunCost[]>> {
  const costs = new Map(all.map((each) => [each, [] as RunCost[]]));
  for (let round = 1; round <= COST_ROUNDS; round += 1) {
    say(`costs, round ${round} of ${COST_ROUNDS}`);
    for (const [each, found] of costs) found.push(await Stand.play(each, runCost));
  }
  return costs;
}

async function measure(
  names: readonly StackName[],
  root: string,
  { kills, seed }: { readonly kills: number; readonly seed: number },
): Promise<Readonly<Record<string, Findings>>> {
  const all = names.map((name) => {
    say(`${name}: install`);
    return install(name, root);
  });
  const found: Record<string, Findings> = {};
  for (const [each, costs] of await costsOf(all)) {
    say(`${each.name}: accidents`);
    const { service, bindable } = STACKS[each.name];
    const options = { kills, random: randomFrom(seed), bindable };
    found[each.name] = {
      service,
      installation: installation(each.folder),
      cost: medianCost(costs),
      verdicts: await judge((scenario) => Stand.play(each, scenario), options),
    };
    // A later stack may fail, and take a quarter of an hour with it.
    say(JSON.stringify(found[each.name]));
  }
  return found;
}

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    kills: { type: 'string', default: '40' },
    seed: { type: 'string', default: '1' },
    json: { type: 'boolean', default: false },
    help: { type: 'boolean', short: 'h', default: false },
  },
});

async function main(): Promise<void> {
  const names = positionals.length > 0 ? positionals : [...KNOWN, ...Object.keys(NOT_TO_BE_HAD)];
  const obstacles = names.map((name) => [name, obstacle(name)] as const);
  const missing = Object.fromEntries(obstacles.filter((pair): pair is [string, string] => pair[1] !== null));
  const measurable = names.filter((name) => !(name in missing)) as StackName[];
  const root = mkdtempSync(join(tmpdir(), 'devs-peers-installed-'));
  try {
    const options = { kills: Number(values.kills), seed: Number(values.seed) };
    const found = await measure(measurable, root, options);
    console.log(values.json ? JSON.stringify({ found, missing }, null, 2) : render(found, missing));
  } finally {
    rmSync(root, { recursive: true, force: true });
  }
}

const unknown = positionals.filter((name) => !(name in STACKS) && !(name in NOT_TO_BE_HAD));
const isNumber = [values.kills, values.seed].every((text) => /^\d{1,9}$/.test(text));
if (values.help) console.log(HELP);
else if (unknown.length > 0 || !isNumber) {
  console.error(`${unknown.length > 0 ? `Not known: ${unknown.join(', ')}.` : 'Not a number.'}\n\n${HELP}`);
  process.exitCode = 2;
} else await main();
