import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { DevsError } from '@devs/core';
import { BUBBLEWRAP_PROBE, type BubblewrapOptions, bubblewrap } from './bubblewrap.ts';
import { customSandbox, type Sandbox } from './Sandbox.ts';

/** `bwrap`: the built-in one; `none`: without; otherwise your own program and arguments. */
export type SandboxChoice = 'bwrap' | 'none' | readonly string[];

/** Time bubblewrap has to start a program that does nothing, ms. */
const PROBE_MS = 10_000;

let bubblewrapProbe: Promise<boolean> | undefined;

/** Returns whether bubblewrap works here; tested once per process. */
export function bubblewrapRuns(): Promise<boolean> {
  bubblewrapProbe ??= probe();
  return bubblewrapProbe;
}

/**
 * Returns the chosen sandbox; `null` for `none`, which the caller must record and show.
 *
 * @throws DevsError `SANDBOX_MISSING` if the built-in one does not work here.
 */
export async function findSandbox(
  choice: SandboxChoice,
  options: BubblewrapOptions,
): Promise<Sandbox | null> {
  if (choice === 'none') return null;
  if (choice !== 'bwrap') return customSandbox(choice);
  if (await bubblewrapRuns()) return bubblewrap(options);
  throw new DevsError('No sandbox is available: bubblewrap (bwrap) does not run on this machine.', {
    code: 'SANDBOX_MISSING',
    remedy:
      'Install bubblewrap, set your own sandbox in .devs/config.json, or resume with --no-sandbox: ' +
      'checks and agents then have your full access.',
  });
}

async function probe(): Promise<boolean> {
  const [file = '', ...args] = BUBBLEWRAP_PROBE;
  try {
    await promisify(execFile)(file, args, { timeout: PROBE_MS });
    return true;
  } catch {
    return false;
  }
}
