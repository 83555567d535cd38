// Stands for a coding CLI: reads its prompt from stdin and does what its first argument says.
import { once } from 'node:events';
import { readFileSync, writeFileSync } from 'node:fs';
import { BEHAVIOURS, fenced } from '../coding/behaviours.mjs';

const [mode, argument = ''] = process.argv.slice(2);
const prompt = mode === 'file' ? readFileSync(argument, 'utf8') : readFileSync(0, 'utf8');

const print = (text) => process.stdout.write(`${text}\n`);
const usage = {
  input_tokens: 20,
  cache_creation_input_tokens: 0,
  cache_read_input_tokens: 80,
  output_tokens: 7,
};
const say = (result, more = {}) =>
  print(JSON.stringify({ type: 'result', is_error: false, result, total_cost_usd: 0.25, usage, ...more }));

const documents = (contents) => ({
  documents: Object.entries(contents).map(([type, content]) => ({ type, title: 'Sum', content })),
});
const REPORT = 'Sums exist.\n\n## Claims\n- [unsourced] Everybody adds.\n';
const REPORTS = documents({ MARKET: REPORT, COMPETITION: REPORT, TECHNOLOGY: REPORT, USERS: REPORT });
const DESIGN = documents({
  PRD: 'Adds:\n```js\nsum(1, 2)\n```\n',
  TAS: '## Left out\n- MCP_DESIGN: no agents\n- SECURITY: no input\n- UI_UX: a library\n',
});
const REVIEW = {
  approved: true,
  comments: 'Nothing to change.',
  evidence: [{ criterion: '1 + 2 is 3', shownBy: 'sum.test.js: adds' }],
};
const PLAN = {
  requirements: [{ externalId: 'REQ-1', description: 'Adds two numbers' }],
  epics: [
    {
      name: 'Sum',
      description: 'All of it',
      tasks: [
        {
          key: 'sum',
          name: 'Add two numbers',
          description: 'A function.',
          dependsOn: [],
          requirements: ['REQ-1'],
          acceptanceCriteria: ['1 + 2 is 3'],
        },
      ],
    },
  ],
};
const TEST =
  "import assert from 'node:assert';\nimport { it } from 'node:test';\nimport { sum } from './sum.js';\n" +
  "it('adds', () => assert.equal(sum(1, 2), 3));\n";

/** Every stage of a run, told apart by its prompt. */
function work() {
  const stage = /^Stage: (\w+)(?: the (\w+))?/m.exec(prompt)?.slice(1).filter(Boolean).join(' ') ?? '';
  if (/^research/.test(stage)) return say(fenced(REPORTS));
  if (/^design/.test(stage)) return say(fenced(DESIGN));
  if (/^(distill|plan)/.test(stage)) return say(fenced(PLAN));
  if (/^review/.test(stage)) return say(fenced(REVIEW));
  if (/^(document)/.test(stage)) writeFileSync('README.md', '# Sum\n');
  else if (/^implement/.test(stage)) writeFileSync('sum.js', 'export const sum = (a, b) => a + b;\n');
  else {
    writeFileSync('package.json', '{ "type": "module" }\n');
    writeFileSync('sum.test.js', TEST);
  }
  return say(`Done: ${stage}.`);
}

async function flood(megabytes) {
  const piece = Buffer.alloc(1024 * 1024, 'x');
  for (let left = megabytes; left > 0; left -= 1) {
    if (!process.stdout.write(piece)) await once(process.stdout, 'drain');
  }
  say('The end.');
}

/** What other coding CLIs do too is not here. */
const MODES = {
  work,
  flood: () => flood(Number(argument)),
  file: () => print(prompt),
  dearly: () =>
    say(prompt.includes('your_last_answer') ? fenced({ approved: false, comments: 'No.' }) : 'Fine!'),
  reports: () => say('The key ghp_0123456789abcdefghijABCDEFGHIJ012345 is invalid.', { is_error: true }),
  refused: () => {
    say('Invalid API key', { is_error: true });
    process.exitCode = 1;
  },
};

if (mode in MODES) await MODES[mode]();
else await BEHAVIOURS[mode]({ prompt, raw: (bytes) => process.stdout.write(bytes), say: print });
