import { copyFileSync, cpSync, existsSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { Checks } from '@devs/core';
import { doctor, openReadOnly } from '@devs/core/state';
import { scriptedChecks } from '@devs/core/testing';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { bundleAlone } from '../../../core/test/support/bundlePrograms.ts';
import { tried } from '../../../core/test/support/tried.ts';
import { CommandChecks } from '../../src/checks/CommandChecks.ts';
import { attackBy, Project } from './Project.ts';

// docs/internals/security.md lists these under "What an agent without a sandbox can forge"; keep both the same.

const signal = new AbortController().signal;
const MODULE = 'export {};\n';
const CLI = new URL('../../../cli/', import.meta.url);

const newProject = (): Project => new Project(mkdtempSync(join(tmpdir(), 'devs-forge-')));

let waiting: Project;
let gate: Awaited<ReturnType<Project['toFirstGate']>>;
beforeAll(async () => {
  waiting = newProject();
  gate = await waiting.toFirstGate();
  await waiting.workspace.open('victim');
});
afterAll(() => rmSync(waiting.dir, { recursive: true, force: true, maxRetries: 3 }));

let project: Project;
beforeEach(() => {
  project = newProject();
});
afterEach(() => rmSync(project.dir, { recursive: true, force: true, maxRetries: 3 }));

/** The folder of a run that waits at its first gate. */
async function folderAtFirstGate(): Promise<string> {
  cpSync(waiting.dir, project.dir, { recursive: true, verbatimSymlinks: true });
  return (await project.workspace.open('victim')).dir;
}

/** The command as it is installed: one file, below its manifest. */
function installedDevs(): string {
  const file = join(project.dir, 'installed', 'dist', 'bin.mjs');
  bundleAlone(fileURLToPath(new URL('src/bin.ts', CLI)), file);
  copyFileSync(new URL('package.json', CLI), join(project.dir, 'installed', 'package.json'));
  return file;
}

/** Lets a hostile command loose in it; returns what it printed. */
async function attack(way: string): Promise<string> {
  const dir = await folderAtFirstGate();
  const { sessionId, artifactHash } = gate;
  const command = way === 'devs approve' ? [installedDevs()] : [];
  const { output } = await attackBy(way, sessionId, artifactHash, ...command).run({ dir, signal });
  return output;
}

describe('a gate, attacked by a command without a sandbox', () => {
  test.for([
    'devs approve',
    'the library, under the name of a human',
    'a decision in row and log, with the right chain',
    'other policies beside their check value',
    'another state file, while nobody has it open',
  ])('is forged by %s', async (way, { task }) => {
    expect(await attack(way)).toContain(`tried: ${way}`);
    tried(task, { ways: 1, open: 1 });
    expect(await project.firstGate()).toBe('forged');
  });

  test.for([
    'a decision in its row',
    'a decision in the log alone',
    'a decision in row and log, with a wrong chain',
    'a decision in row and log, but not at the end of the log',
    'other policies in the row of the run',
  ])('notices %s', async (way) => {
    expect(await attack(way)).toContain(`tried: ${way}`);
    expect(await project.firstGate()).toEqual({ noticed: 'STATE_CORRUPT' });
  });

  test.for([
    ['the library, as an agent', 'AGENT_MAY_NOT_DECIDE'],
    ['the library, as a policy', 'POLICY_NOT_DECLARED'],
  ] as const)('refuses %s', async ([way, code]) => {
    expect(await attack(way)).toContain(`refused: ${code}`);
    expect(await project.firstGate()).toBe('closed');
  });

  test.for(['configuration in the workspace', 'the environment'])('is not moved by %s', async (way) => {
    expect(await attack(way)).toContain(`tried: ${way}`);
    expect(await project.firstGate()).toBe('closed');
  });

  test('is not shown with another text than the one that is approved', async () => {
    expect(await attack('another text in the question')).toContain('tried: ');
    const devs = await project.open();
    const run = await devs.run('victim');
    await expect(run.gates()).rejects.toThrow(expect.objectContaining({ code: 'STATE_CORRUPT' }));
    devs.close();
  });

  test('is not decided in a file that was replaced while it was open', async () => {
    const dir = await folderAtFirstGate();
    const devs = await project.open();
    const { output } = await attackBy('another state file, while nobody has it open').run({ dir, signal });
    expect(output).toContain('tried: ');
    const decide = async () =>
      (await devs.run('victim')).decide(gate, { approved: true, by: { kind: 'human', id: 'ada' } });
    await expect(decide()).rejects.toThrow(expect.objectContaining({ code: 'STATE_REPLACED' }));
    devs.close();
  });
});

describe('the workspace, attacked by a command without a sandbox', () => {
  test.for([
    'hooks, filters and a monitor in a git folder of its own',
    'a .git that points to another repository',
    "hooks, filters and a monitor in the engine's git folder",
  ])('runs no program for %s', async (way) => {
    expect(await attack(way)).toContain(`tried: ${way}`);
    const run = await project.workspace.open('victim');
    await run.apply([{ path: 'index.js', content: MODULE }]);
    const tree = await run.snapshot();
    await run.restore(tree);
    const sha = await run.commit({ tree, message: 'Add', stepKey: 'T1/1' });
    expect(await run.log()).toEqual([{ sha, subject: 'Add' }]);
    expect(existsSync(join(project.dir, 'executed'))).toBe(false);
  });

  test('does not follow links out of it', async () => {
    expect(await attack('links out of the workspace')).toContain('tried: ');
    const run = await project.workspace.open('victim');
    for (const path of ['src/state.sqlite', 'notes.txt']) {
      await expect(run.apply([{ path, content: 'x' }])).rejects.toMatchObject({ code: 'PATH_REFUSED' });
      await expect(run.read(path)).rejects.toMatchObject({ code: 'PATH_REFUSED' });
    }
  });
});

describe('a task, attacked by its own checks without a sandbox', () => {
  const edit = (path: string, content: string) => async () => ({ summary: path, files: [{ path, content }] });
  const tests = (command: string) => JSON.stringify({ scripts: { test: command } });
  /** What `npm test` is; what npm does itself is proven elsewhere, and takes longer than all else here. */
  const command = `test -f package.json && eval "$(sed -n 's/.*"test":"\\([^"]*\\)".*/\\1/p' package.json)"`;
  const script = new CommandChecks({ argv: ['sh', '-c', command] });
  const says = (passed: boolean): Checks => scriptedChecks([passed]);
  /** The run was stopped before its next attempt. */
  const NOT_VERIFIED = { status: 'in_progress', failedAttempts: 1 };

  test('is verified by tests that the agent wrote', async ({ task }) => {
    tried(task, { ways: 1, open: 1 });
    const agents = {
      writeTest: edit('package.json', tests('cat done')),
      implement: edit('done', ''),
    };
    const tasks = await project.verify({ agents, checks: [script, script, says(false)] });
    expect(tasks).toEqual([{ status: 'completed', failedAttempts: 0 }]);
  });

  test('is not verified by tests that were changed after they were red: they are put back', async () => {
    const agents = {
      writeTest: edit('package.json', tests('exit 1')),
      implement: edit('package.json', tests('exit 0')),
    };
    const tasks = await project.verify({ agents, checks: [script, script, says(false)] });
    expect(tasks).toEqual([NOT_VERIFIED]);
  });

  test('is not verified by a trigger in the state file that turns every verdict green, and doctor names it', async () => {
    const attack = attackBy('a trigger that turns every verdict green');
    const tasks = await project.verify({ checks: [attack, says(false), says(false), says(false)] });
    expect(tasks).toEqual([NOT_VERIFIED]);
    const db = openReadOnly({ dbPath: join(project.dir, '.devs', 'state.sqlite') });
    expect(doctor(db).findings).toMatchObject([
      { code: 'SCHEMA_FOREIGN', table: 'agent_steps' },
      { code: 'VALUE_DAMAGED', table: 'agent_steps' },
    ]);
    db.close();
  });

  test('is not verified by a verdict that a red check wrote into its own row: the turn fails', async () => {
    const attack = attackBy('its own verdict, in the row of the running step');
    const tasks = await project.verify({ checks: [says(false), attack, says(false)] });
    expect(tasks).toEqual([NOT_VERIFIED]);
  });

  test('is not verified by tests that a check put in the folder: every check starts from the recorded tree', async () => {
    const agents = { writeTest: edit('package.json', tests('exit 1')) };
    const attack = attackBy('other tests, put in the folder while they run');
    const tasks = await project.verify({ agents, checks: [attack, script, says(false)] });
    expect(tasks).toEqual([NOT_VERIFIED]);
  });
});

describe('the environment of the driver', () => {
  test.runIf(process.platform === 'linux')('is read by a command of the same user', async ({ task }) => {
    tried(task, { ways: 1, open: 1 });
    const printed = await attack('the environment of the driver');
    expect(printed).toContain(`\nPATH=${process.env['PATH']}`);
    expect(printed).toContain('tried: ');
  });
});
