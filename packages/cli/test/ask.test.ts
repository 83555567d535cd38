import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect } from 'vitest';
import { callMain } from './support/callMain.ts';
import { RUN_EMPTY, test } from './support/fixtures.ts';
import { waitingSum } from './support/sumProject.ts';
import { driveShop, RUN } from './support/waitingProject.ts';
import { trusting, writeConfig } from './support/writeConfig.ts';

/** A coding CLI that answers with how often it was called and whether it was told what the gate shows. */
const CLI = `
const { appendFileSync, readFileSync } = require('node:fs');
let told = '';
process.stdin.on('data', (text) => { told += text; }).on('end', () => {
  const knows = told.includes('Design 1') && told.includes('Why one document?');
  const answer = (knows ? 'Because of Design 1. ' : 'I see nothing. ') + '\\u202e';
  console.log('\`\`\`json\\n' + JSON.stringify({ answer }) + '\\n\`\`\`');
});
`;

async function waiting(dir: string): Promise<readonly string[]> {
  await driveShop(dir);
  const file = join(dir, 'cli.cjs');
  writeFileSync(file, CLI);
  writeConfig(dir, { agents: `command:node ${file}`, sandbox: 'none', repository: false });
  return trusting(dir);
}

describe('devs ask', () => {
  test('asks the agent about the gate, decides nothing, and is shown below it', async ({ dir }) => {
    const trust = await waiting(dir);
    const asked = await callMain(dir, ['ask', RUN, 'Why one document?', '--by', 'ada', ...trust]);
    expect(asked).toMatchObject({ exitCode: 0, stderr: '' });
    expect(asked.stdout).toMatch(/^Because of Design 1\. ⟨U\+202E⟩$/m);
    const shown = await callMain(dir, ['show', RUN]);
    expect(shown.stdout).toMatch(
      /\(not covered by the hash\)\nhuman:ada at .*:\n> Why one document\?\n\nBecause of Design 1/,
    );
    const json = await callMain(dir, ['show', RUN, '--json']);
    expect(JSON.parse(json.stdout)).toMatchObject({ exchanges: [{ question: 'Why one document?' }] });
    const log = await callMain(dir, ['log', RUN]);
    expect(log.stdout).toContain('question about design, by human:ada: Why one document?');
    const { stdout } = await callMain(dir, ['status', RUN, '--json']);
    expect(JSON.parse(stdout)).toMatchObject({ status: 'waiting', gates: [{ kind: 'design_approval' }] });
  });

  test('agents that answer no questions are said to, and nothing is written', async ({ dir }) => {
    await waitingSum(dir);
    const refused = await callMain(dir, ['ask', 'sum', 'Why?']);
    expect(refused).toMatchObject({ exitCode: 6, stdout: '' });
    expect(refused.stderr).toMatch(/^ASK_UNSUPPORTED: /);
    expect((await callMain(dir, ['log', 'sum'])).stdout).not.toContain('asked');
    await callMain(dir, [...RUN_EMPTY, '--id', 'empty']);
    const alone = await callMain(dir, ['ask', 'empty', 'Why?']);
    expect(alone).toMatchObject({ exitCode: 6, stderr: expect.stringContaining('the run has no agents') });
  });
});
