import { cpSync, mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { afterAll, beforeAll, describe, expect } from 'vitest';
import { callMain } from './support/callMain.ts';
import { test } from './support/fixtures.ts';
import { driveShop as drive, RUN } from './support/waitingProject.ts';

/** Projects whose run waits at the gate of the design and of the plan; tests work on copies. */
const atDesign = mkdtempSync(join(tmpdir(), 'devs-design-'));
const atPlan = mkdtempSync(join(tmpdir(), 'devs-plan-'));
beforeAll(async () => {
  await drive(atDesign);
  await drive(atPlan, { design: 'auto' });
});
afterAll(() => {
  for (const dir of [atDesign, atPlan]) rmSync(dir, { recursive: true, force: true });
});

const documentOf = <T>({ stdout }: { readonly stdout: string }): T => JSON.parse(stdout) as T;

/** A terminal whose editor is a script; it gets the file as `file`. */
/** The file that a message names, in a folder of its own that a test may delete; throws where none is named. */
function keptFile(stderr: string): string {
  const file = /^your text is saved in (\/.+)$/m.exec(stderr)?.[1];
  if (file === undefined || dirname(dirname(file)) !== tmpdir())
    throw new Error(`Expected a file in a new folder of ${tmpdir()}, got: ${stderr}`);
  return file;
}

function terminalWith(dir: string, script: string) {
  const editor = join(dir, 'editor.mjs');
  const body = `const file = process.argv.at(-1);\n${script}`;
  writeFileSync(
    editor,
    `import { appendFileSync, readFileSync, statSync, writeFileSync } from 'node:fs';\n${body}`,
  );
  return {
    isTTY: true,
    stdin: Object.assign((async function* (): AsyncGenerator<string> {})(), { isTTY: true }),
    env: { ...process.env, VISUAL: '', EDITOR: `'${process.execPath}' '${editor}'` },
  };
}

const replacing = (from: string, to: string): string =>
  `writeFileSync(file, readFileSync(file, 'utf8').replace('${from}', '${to}'));`;

describe('devs edit', () => {
  test('opens the documents in the editor; the gate then asks about the new version', async ({ dir }) => {
    cpSync(atDesign, dir, { recursive: true });
    const before = documentOf<{ artifactHash: string }>(await callMain(dir, ['show', RUN, '--json']));
    const terminal = terminalWith(
      dir,
      `writeFileSync('${dir}/mode', (statSync(file).mode & 0o777).toString(8));${replacing('Design 1', 'Sell bread only')}`,
    );
    const edited = await callMain(dir, ['edit', RUN, '--by', 'ada'], terminal);
    expect(edited).toMatchObject({ exitCode: 0 });
    expect(edited.stdout).toContain('edited: design of shop');
    expect(edited.stdout).toContain('to reopen the gate with your version: devs resume shop');
    expect(readFileSync(join(dir, 'mode'), 'utf8')).toBe('600');

    expect(await drive(dir)).toMatchObject({ gates: [{ kind: 'design_approval' }] });
    const { stdout } = await callMain(dir, ['show', RUN]);
    expect(stdout).toContain('PRD: PRD (version 2)\nSell bread only');
    const stale = await callMain(dir, ['approve', RUN, '--hash', before.artifactHash.slice(0, 12)]);
    expect(stale).toMatchObject({ exitCode: 6, stderr: expect.stringContaining('GATE_STALE') });
    const log = await callMain(dir, ['log', RUN]);
    expect(log.stdout).toContain('gate edited: design, by human:ada');
  });

  test('opens the editor again with what is wrong, and keeps the text when it is left so', async ({
    dir,
  }) => {
    cpSync(atPlan, dir, { recursive: true });
    const say = `appendFileSync('${dir}/opened', readFileSync(file, 'utf8').split('\\n')[0] + '\\n');`;
    const cyclic = terminalWith(dir, `${say}${replacing('after: []', 'after: [ T2 ]')}`);
    const refused = await callMain(dir, ['edit', RUN], cyclic);
    expect(refused).toMatchObject({ exitCode: 1, stderr: expect.stringContaining('cycle T1 → T2 → T1') });
    expect(readFileSync(join(dir, 'opened'), 'utf8').split('\n')[1]).toMatch(
      /^# NOT ACCEPTED: .*T1 → T2 → T1/,
    );
    const kept = keptFile(refused.stderr);
    expect(readFileSync(kept, 'utf8')).toContain('after: [ T2 ]');
    expect(statSync(kept).mode & 0o777).toBe(0o600);
    rmSync(dirname(kept), { recursive: true });
    expect(documentOf(await callMain(dir, ['gates', '--json']))).toHaveLength(1);
  });

  test('decides nothing when the text says the same or the editor fails', async ({ dir }) => {
    cpSync(atPlan, dir, { recursive: true });
    const same = await callMain(dir, ['edit', RUN], terminalWith(dir, ''));
    expect(same).toMatchObject({ exitCode: 75, stderr: expect.stringContaining('No decision was recorded') });
    const failed = await callMain(dir, ['edit', RUN], terminalWith(dir, 'process.exit(3);'));
    expect(failed).toMatchObject({ exitCode: 2, stderr: expect.stringContaining('ended with 3') });
    rmSync(dirname(keptFile(failed.stderr)), { recursive: true });
  });

  test('goes by files without a terminal: a task is dropped, and the run does the rest', async ({ dir }) => {
    cpSync(atPlan, dir, { recursive: true });
    expect(await callMain(dir, ['edit', RUN])).toMatchObject({
      exitCode: 2,
      stderr: expect.stringContaining('--out FILE'),
    });
    expect(await callMain(dir, ['edit', RUN, '--out', 'plan.yaml'])).toMatchObject({ exitCode: 0 });
    const file = join(dir, 'plan.yaml');
    expect(statSync(file).mode & 0o777).toBe(0o600);
    const text = readFileSync(file, 'utf8');
    writeFileSync(file, text.slice(0, text.indexOf('      - task: T2')));
    const edited = await callMain(dir, ['edit', RUN, '--file', 'plan.yaml', '--json']);
    expect(documentOf(edited)).toMatchObject({ kind: 'dag_approval', decision: { action: 'edit' } });

    await drive(dir);
    await callMain(dir, ['show', RUN]);
    expect((await callMain(dir, ['approve', RUN])).exitCode).toBe(0);
    const done = await drive(dir);
    expect(done).toMatchObject({ status: 'completed', commits: [{ subject: 'Task 1' }] });
  });

  test('is refused where there is nothing to edit', async ({ dir }) => {
    cpSync(atPlan, dir, { recursive: true });
    await callMain(dir, ['approve', RUN]);
    const closed = await callMain(dir, ['edit', RUN, '--file', 'x']);
    expect(closed.exitCode).not.toBe(0);
  });
});

describe('devs show to somebody who has read an earlier version', () => {
  const before = 'Sell things.\\n\\n## Bread\\n\\nOne.\\n\\n## Cake\\n\\nTwo.';

  test('prints what has changed since, and all of it on request', async ({ dir }) => {
    cpSync(atDesign, dir, { recursive: true });
    const edit = async (from: string, to: string): Promise<void> => {
      await callMain(dir, ['edit', RUN, '--by', 'bob'], terminalWith(dir, replacing(from, to)));
      await drive(dir);
    };
    await edit('Design 1', before);
    const first = await callMain(dir, ['show', RUN, '--by', 'ada']);
    expect(first.stdout).toContain('## Bread\n\nOne.');

    await edit('Two.', 'Three.');
    const others = await callMain(dir, ['show', RUN, '--by', 'grace']);
    expect(others.stdout).toContain('## Bread\n\nOne.');
    const { stdout } = await callMain(dir, ['show', RUN, '--by', 'ada']);
    expect(stdout).toContain('PRD: PRD, version 2 → 3, 9 lines, in Cake\n');
    expect(stdout).toContain('RESEARCH: RESEARCH, unchanged\n');
    expect(stdout).toContain('\n-Two.\n+Three.\n');
    expect(stdout).not.toContain('One.');
    expect(stdout).toMatch(/^ {2}devs approve [0-9a-f]{8} --hash/m);

    const again = await callMain(dir, ['show', RUN, '--by', 'ada']);
    expect(again.stdout).toContain('One.');
  });

  test('prints all of it with --full', async ({ dir }) => {
    cpSync(atDesign, dir, { recursive: true });
    await callMain(dir, ['show', RUN, '--by', 'ada']);
    await callMain(dir, ['edit', RUN, '--by', 'bob'], terminalWith(dir, replacing('Design 1', before)));
    await drive(dir);
    const { stdout } = await callMain(dir, ['show', RUN, '--by', 'ada', '--full']);
    expect(stdout).toContain('## Bread\n\nOne.');
  });

  test('shows which tasks of a plan changed', async ({ dir }) => {
    cpSync(atPlan, dir, { recursive: true });
    await callMain(dir, ['show', RUN, '--by', 'ada']);
    await callMain(dir, ['edit', RUN], terminalWith(dir, replacing('name: Task 2', 'name: Labels')));
    await drive(dir);
    const { stdout } = await callMain(dir, ['show', RUN, '--by', 'ada']);
    expect(stdout).toContain('-T2 Task 2 (developer)\n+T2 Labels (developer)');
    expect(stdout).not.toContain('It works.');
  });
});
