// What happens to one graph on plain LangGraph with its own SQLite saver, and with this engine around it.
//   pnpm compare:langgraph
import { spawn } from 'node:child_process';
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';

const program = (name) => fileURLToPath(new URL(`../packages/core/bench/compare/${name}`, import.meta.url));
const CLIENT = program('client.child.ts');
/** A graph from its start to its end, for what must come out of it. */
const KEPT = program('kept.child.ts');
const STACKS = ['langgraph', 'devs'];
const TSX = import.meta.resolve('tsx');

/** Starts a client; resolves with how it ended. */
function client(stack, act, folder, program = CLIENT) {
  const args = ['--conditions=@devs/source', '--import', TSX, program, stack, act, folder];
  const child = spawn(process.execPath, args, { stdio: ['ignore', 'ignore', 'inherit'] });
  return new Promise((resolve, reject) => {
    child.on('error', reject);
    child.on('close', (code, signal) => resolve(signal ?? code));
  });
}

function expectEnd(end, expected) {
  if (end !== expected) throw new Error(`A client ended with ${end} instead of ${expected}.`);
}

/** One scenario in a new folder; returns what the world outside has on its account. */
async function account(scenario) {
  const folder = mkdtempSync(join(tmpdir(), 'devs-compare-'));
  try {
    await scenario(folder);
    return existsSync(join(folder, 'account.txt'))
      ? readFileSync(join(folder, 'account.txt'), 'utf8').trim().split('\n')
      : [];
  } finally {
    rmSync(folder, { recursive: true });
  }
}

const killed = (stack) => async (folder) => {
  expectEnd(await client(stack, 'start and die', folder), 'SIGKILL');
  expectEnd(await client(stack, 'start', folder), 0);
};

const twoClients = (stack) => async (folder) => {
  expectEnd(await client(stack, 'start', folder), 0);
  const both = [client(stack, 'approve at once', folder), client(stack, 'approve at once', folder)];
  while (readdirSync(folder).filter((name) => name.startsWith('ready-')).length < 2) await sleep(5);
  writeFileSync(join(folder, 'go'), '');
  for (const end of await Promise.all(both)) expectEnd(end, 0);
};

const retriedClick = (stack) => async (folder) => {
  expectEnd(await client(stack, 'start', folder), 0);
  expectEnd(await client(stack, 'approve twice', folder), 0);
};

const toTheEnd = (act) =>
  Object.defineProperty(
    (stack) => async (folder) => expectEnd(await client(stack, act, folder, KEPT), 0),
    'name',
    { value: act },
  );

const count = (entries, what) => entries.filter((entry) => entry.startsWith(what)).length;

const SCENARIOS = [
  ['killed between a paid call and the end of its node: times paid', killed, 'paid call'],
  ['two processes approve one gate at once: times published', twoClients, 'published'],
  ['… answers accepted for that one gate', twoClients, 'approval accepted'],
  ['one click sent twice, two gates in the graph: answers accepted', retriedClick, 'approval accepted'],
  ['… times the step behind the second gate, which nobody read, was done', retriedClick, 'announced'],
  [
    "two calls of one name in a subgraph: calls given the other's result",
    toTheEnd('two calls of one name'),
    "another's",
  ],
  ['a breakpoint in a subgraph: times it was run through', toTheEnd('stop at a breakpoint'), 'breakpoint'],
  ['a human says no: times it was done', toTheEnd('answer no'), 'published after a no'],
  ['a date in the state, read after a question: values changed', toTheEnd('keep a date'), 'value changed'],
];

console.log(`| | ${STACKS.join(' | ')} |\n| --- | ---: | ---: |`);
const seen = new Map();
for (const [name, scenario, what] of SCENARIOS) {
  const cells = [];
  for (const stack of STACKS) {
    const key = `${scenario.name} ${stack}`;
    if (!seen.has(key)) seen.set(key, await account(scenario(stack)));
    cells.push(count(seen.get(key), what));
  }
  console.log(`| ${name} | ${cells.join(' | ')} |`);
}
const refusals = [...seen].flatMap(([key, entries]) =>
  entries.filter((entry) => entry.startsWith('approval refused')).map((entry) => `${key}: ${entry}`),
);
console.log(`\n${refusals.join('\n')}`);
