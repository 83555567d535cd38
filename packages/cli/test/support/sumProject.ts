import { cpSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { callMain } from './callMain.ts';
import { RUN_SUM } from './fixtures.ts';

/** Made once in a process, and then copied. */
const made = new Map<string, Promise<string>>();

function projectOf(name: string, flags: readonly string[]): Promise<string> {
  const known = made.get(name) ?? make(name, flags);
  made.set(name, known);
  return known;
}

async function make(name: string, flags: readonly string[]): Promise<string> {
  const folder = mkdtempSync(join(tmpdir(), `devs-${name}-`));
  process.on('exit', () => rmSync(folder, { recursive: true, force: true }));
  const { exitCode, stderr } = await callMain(folder, [...RUN_SUM, ...flags]);
  if (exitCode !== 0 && exitCode !== 75) throw new Error(stderr);
  return folder;
}

/** Makes a folder the project of {@link RUN_SUM}, which waits at the gate of its design and was read. */
export async function waitingSum(dir: string): Promise<void> {
  cpSync(await projectOf('waiting', []), dir, { recursive: true });
  await callMain(dir, ['show', 'sum']);
}

/** Makes a folder the project of {@link RUN_SUM}, which has ended with one commit. */
export async function finishedSum(dir: string): Promise<void> {
  cpSync(await projectOf('finished', ['--yes']), dir, { recursive: true });
}
