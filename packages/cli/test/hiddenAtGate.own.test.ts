import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { secretRegistry } from '@devs/core';
import { type DurableOptions, durable } from '@devs/core/langgraph';
import { Annotation, START, StateGraph } from '@langchain/langgraph';
import { describe, expect } from 'vitest';
import { callMain } from './support/callMain.ts';
import { test } from './support/fixtures.ts';

type GateOf = NonNullable<DurableOptions<typeof Release.State>['gates']>[string];

const RUN = 'release';
const Release = Annotation.Root({ command: Annotation<string>() });

let made = 0;

/** A value that the run's program did not know to be secret, and whoever reads its gate does. Another one each time. */
function aSecret() {
  made += 1;
  const value = `k$w;${`h4Xz${made}`.repeat(5)}`;
  return { value, know: () => secretRegistry.register(value) };
}

/** Drives a graph of one's own in a project, whose node runs what its gate shows. */
async function drive(dir: string, command: string, gate: GateOf = ({ command: shown }) => shown) {
  mkdirSync(join(dir, '.devs'), { recursive: true, mode: 0o700 });
  const ran: string[] = [];
  const builder = new StateGraph(Release)
    .addNode('execute', (state) => {
      ran.push(state.command);
      return {};
    })
    .addEdge(START, 'execute');
  const app = durable(builder, { file: join(dir, '.devs', 'state.sqlite'), gates: { execute: gate } });
  try {
    const { status } = await app.run(RUN, { command });
    return { status, ran };
  } finally {
    app.close();
  }
}

const HIDDEN = 'TOKEN="; rm -rf ~/work; #" npm test';

describe('what masks of other output take for a secret', () => {
  test.for([
    HIDDEN,
    'curl -H "Authorization: Bearer x;rm$IFS-rf$IFS~/work"',
    'secret=transfer_90000_EUR_to_DE02120300000000202051',
  ])('is shown in every view of a gate: %s', async (command, { dir }) => {
    await drive(dir, command);
    for (const argv of [
      ['show', RUN],
      ['show', RUN, '--md'],
    ])
      expect((await callMain(dir, argv)).stdout).toContain(command.replaceAll('"', '\\"'));
    for (const argv of [
      ['show', RUN, '--json'],
      ['gates', '--json'],
      ['gates', '--all', '--json'],
      ['status', '--json'],
    ])
      expect((await callMain(dir, argv)).stdout).toContain(JSON.stringify(command));
    const { stdout } = await callMain(dir, ['show', RUN]);
    expect(stdout).not.toContain('HIDDEN');
    expect(stdout).not.toContain('REDACTED');
    const closed = await callMain(dir, ['approve', RUN, '--json']);
    expect(closed.exitCode).toBe(0);
    expect(JSON.parse(closed.stdout)).not.toHaveProperty('hidden');
    const { sessionId } = JSON.parse(closed.stdout);
    expect((await callMain(dir, ['show', sessionId])).stdout).toContain(command.replaceAll('"', '\\"'));
  });
});

describe('a value that this user knows to be secret', () => {
  test('is hidden with its length and digest, and an ordinary yes is refused', async ({ dir }) => {
    const { value, know } = aSecret();
    await drive(dir, `login ${value} | ${value}`);
    know();
    const shown = await callMain(dir, ['show', RUN]);
    expect(shown.stdout).not.toContain(value);
    const [, digest] = /\[REDACTED:registered:\d+:([0-9a-f]{12})\]/.exec(shown.stdout) ?? [];
    expect(shown.stdout).toContain(
      [
        'HIDDEN: 2 places of the approved content; look for REDACTED.',
        `  1. /artifact at 6: registered, ${value.length} characters, digest ${digest}`,
        `  2. /artifact at ${9 + value.length}: registered, ${value.length} characters, digest ${digest}`,
      ].join('\n'),
    );
    for (const how of [['--json'], ['--md']]) {
      const { stdout } = await callMain(dir, ['show', RUN, ...how]);
      expect(stdout).not.toContain(value);
      expect(stdout).toMatch(/hiddenCount": 2|HIDDEN: 2 places/);
    }
    for (const argv of [
      ['approve', RUN],
      ['approve', RUN, '--with-hidden', '1'],
    ])
      expect(await callMain(dir, argv)).toMatchObject({
        exitCode: 6,
        stderr: expect.stringMatching(/^GATE_HIDDEN: .*2 places.*\n.*devs show --reveal.*--with-hidden 2/),
      });
    expect((await callMain(dir, ['status', RUN])).stdout).toContain('waiting for a person');
    const file = join(dir, 'decision.json');
    const gate = JSON.parse((await callMain(dir, ['show', RUN, '--json'])).stdout);
    const decision = { session: gate.sessionId, hash: gate.artifactHash, approved: true, by: 'ada' };
    writeFileSync(file, JSON.stringify(decision));
    expect(await callMain(dir, ['approve', '--from', file])).toMatchObject({ exitCode: 6 });
    writeFileSync(file, JSON.stringify({ ...decision, withHidden: 2 }));
    const { stdout } = await callMain(dir, ['approve', '--from', file, '--json']);
    expect(JSON.parse(stdout)).toMatchObject({ hidden: { count: 2, revealed: [] } });
  });

  test('is revealed to one person, which is recorded, and their yes counts', async ({ dir }) => {
    const { value, know } = aSecret();
    await drive(dir, `login ${value}`);
    know();
    const revealed = await callMain(dir, ['show', RUN, '--reveal', '--by', 'ada']);
    expect(revealed.stdout).toContain(`login ${value}`);
    expect(revealed.stdout).not.toContain('HIDDEN');
    const bob = await callMain(dir, ['approve', RUN, '--by', 'bob']);
    expect(bob).toMatchObject({ exitCode: 6, stderr: expect.stringContaining('GATE_HIDDEN') });
    const { stdout } = await callMain(dir, ['approve', RUN, '--by', 'ada', '--json']);
    expect(JSON.parse(stdout)).toMatchObject({ hidden: { count: 1, revealed: [1] } });
    const log = await callMain(dir, ['log', RUN]);
    expect(log.stdout).toContain('hidden text of a gate viewed: node approval, 1 place, by human:ada');
    const { sessionId } = JSON.parse(stdout);
    const closed = await callMain(dir, ['show', sessionId]);
    expect(closed.stdout).toContain('  hidden: 1 place, read: 1');
    expect(closed.stdout).not.toContain(value);
    expect(await callMain(dir, ['show', sessionId, '--reveal'])).toMatchObject({ exitCode: 4 });
  });

  test('is revealed as JSON, too, and not to an agent', async ({ dir }) => {
    const { value, know } = aSecret();
    await drive(dir, `login ${value}`);
    know();
    const { stdout } = await callMain(dir, ['show', RUN, '--reveal', '--by', 'ada', '--json']);
    expect(JSON.parse(stdout)).toMatchObject({ artifact: `login ${value}`, hiddenCount: 0 });
    expect((await callMain(dir, ['approve', RUN, '--by', 'ada'])).exitCode).toBe(0);
  });

  test('is never replaced by a mask in a version of one’s own', async ({ dir }) => {
    const { value, know } = aSecret();
    const edit = (_state: typeof Release.State, command: unknown) => ({ command: String(command) });
    await drive(dir, `login ${value}`, { show: ({ command }) => command, edit });
    know();
    await callMain(dir, ['show', RUN, '--reveal', '--by', 'ada']);
    const refused = await callMain(dir, ['answer', RUN, '--edit', '"login [REDACTED]"', '--by', 'ada']);
    expect(refused).toMatchObject({ exitCode: 6, stderr: expect.stringContaining('INVALID_ANSWER') });
    expect((await callMain(dir, ['answer', RUN, '--edit', '"logout"', '--by', 'ada'])).exitCode).toBe(0);
  });
});
