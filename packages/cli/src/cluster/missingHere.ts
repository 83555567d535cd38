import { execFile } from 'node:child_process';
import { accessSync, constants, existsSync } from 'node:fs';
import path from 'node:path';
import { promisify } from 'node:util';
import { isDevsError } from '@devs/core';
import type { RunSpec } from '../flags/runSpec.ts';
import { agentsFrom } from '../project/agentsFrom.ts';
import type { Session } from '../project/Session.ts';

const execute = promisify(execFile);

/** Git that knows the settings the engine gives it. */
const GIT = { major: 2, minor: 36 } as const;

/** Something that a worker of this project needs and this machine does not have. */
export interface Missing {
  readonly what: 'git' | 'program' | 'agents';
  /** For people. */
  readonly why: string;
}

/** What this machine lacks to drive the pipeline as `spec` says; nothing is run but `git --version` and the sandbox's own test. */
export async function missingHere(spec: RunSpec, session: Session): Promise<readonly Missing[]> {
  const programs = [...spec.checks.map(({ argv }) => argv), ...(spec.setup === null ? [] : [spec.setup])];
  const names = [...new Set(programs.flatMap(([name = '']) => (name.includes('/') ? [] : [name])))];
  const lost = names.filter((name) => !isOnPath(name, session.io.env['PATH'] ?? ''));
  return [
    ...(await withoutGit()),
    ...lost.map(
      (name) => ({ what: 'program', why: `${name} is not on PATH: checks and setup need it` }) as const,
    ),
    ...(await withoutAgents(spec, session)),
  ];
}

async function withoutGit(): Promise<readonly Missing[]> {
  const why = `git ${GIT.major}.${GIT.minor} or newer is not on PATH`;
  try {
    const { stdout } = await execute('git', ['--version']);
    const [, major = 0, minor = 0] = (/(\d+)\.(\d+)/.exec(stdout) ?? []).map(Number);
    return major > GIT.major || (major === GIT.major && minor >= GIT.minor) ? [] : [{ what: 'git', why }];
  } catch {
    return [{ what: 'git', why }];
  }
}

/** Loading them tells: models, their packages and keys, coding CLIs and the sandbox. */
async function withoutAgents(spec: RunSpec, session: Session): Promise<readonly Missing[]> {
  try {
    await agentsFrom(spec, session);
    return [];
  } catch (error) {
    if (!isDevsError(error)) throw error;
    return [{ what: 'agents', why: `${error.message} ${error.remedy}` }];
  }
}

const isOnPath = (name: string, places: string): boolean =>
  places.split(path.delimiter).some((folder) => isProgram(path.join(folder, name)));

function isProgram(file: string): boolean {
  if (!existsSync(file)) return false;
  try {
    accessSync(file, constants.X_OK);
    return true;
  } catch {
    return false;
  }
}
