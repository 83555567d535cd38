import { createHash } from 'node:crypto';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { StageAgents } from '@devs/core';
import { isAcpName } from '../../src/acp/AcpProgram.ts';
import { acpAgents } from '../../src/acp/acpAgents.ts';
import { commandAgents } from '../../src/command/commandAgents.ts';
import { bubblewrap } from '../../src/sandbox/bubblewrap.ts';
import { bubblewrapRuns } from '../../src/sandbox/findSandbox.ts';
import type { Sandbox } from '../../src/sandbox/Sandbox.ts';
import { answers, edits, refusal } from './callTrials.ts';
import type { CodingCli } from './codingClis.ts';
import {
  breakTrial,
  floodTrial,
  hangTrial,
  liesTrial,
  recoversTrial,
  twoAnswersTrial,
} from './faultTrials.ts';
import { Place } from './Place.ts';
import { takesToACommit } from './runTrial.ts';
import { expectEqual, type Trial, trial } from './Trial.ts';

/** Time one call may take, ms: with a key that is refused some try for minutes. */
const LIMIT_MS = 5 * 60_000;

/** Time one call may take whose model fails, ms: some try for ever, and are ended. */
const FAULT_LIMIT_MS = 90_000;

export interface CliProof {
  readonly trials: readonly Trial[];
  /** Hosts it asked for beside the server it was given. */
  readonly elsewhere: readonly string[];
}

/**
 * Runs an installed CLI by its recipe, as a run would, and in the sandbox too where there is one.
 *
 * @param bin - The folder of its program.
 */
export async function proveCli(cli: CodingCli, bin: string): Promise<CliProof> {
  const place = await Place.enter(cli, bin);
  try {
    const home = treeOf(place.home);
    const trials = await tryIn(place, null);
    if (await bubblewrapRuns()) trials.push(...(await tryIn(place, bubblewrap({ project: place.base }))));
    trials.push(...(await tryFaults(place)));
    trials.push(
      await trial('leaves the home of its user alone', async () => {
        expectEqual('the home', treeOf(place.home), home);
        return 'unchanged';
      }),
    );
    return { trials, elsewhere: [...place.server.elsewhere] };
  } finally {
    await place.leave();
  }
}

async function tryIn(place: Place, sandbox: Sandbox | null): Promise<Trial[]> {
  const agents = await agentsOf(place.cli, sandbox);
  const where = sandbox === null ? '' : ', in the sandbox';
  const trials = [
    await trial(`edits the folder${where}`, () => edits(place, agents)),
    await trial(`answers with JSON${where}`, () => answers(place, agents)),
    await trial(`says that its key is refused${where}`, () => refusal(place, agents)),
    await trial(`takes a task to its commit${where}`, () => takesToACommit(place, agents, sandbox)),
  ];
  await agents.close?.();
  return trials;
}

/** What its model does to it, in the end the same agents work. */
async function tryFaults(place: Place): Promise<Trial[]> {
  const agents = await agentsOf(place.cli, null, FAULT_LIMIT_MS);
  const trials: Trial[] = [];
  for (const [what, tried] of FAULTS) trials.push(await trial(what, () => tried(place, agents)));
  await agents.close?.();
  return trials;
}

const FAULTS = [
  ['its model lies about its work', liesTrial],
  ['its model gives two answers', twoAnswersTrial],
  ['its model does not stop', floodTrial],
  ['its model never answers', hangTrial],
  ['its model dies in every answer', breakTrial],
  ['works after all of that', recoversTrial],
] as const;

function agentsOf(
  { name }: CodingCli,
  sandbox: Sandbox | null,
  timeoutMs: number = LIMIT_MS,
): Promise<StageAgents> {
  const common = { sandbox, timeoutMs };
  return isAcpName(name)
    ? acpAgents({ agent: name, ...common })
    : commandAgents({ command: name, ...common });
}

/** Paths and contents of a folder, as one hash. */
function treeOf(dir: string): string {
  const hash = createHash('sha256');
  for (const entry of readdirSync(dir, { recursive: true, withFileTypes: true })) {
    const path = join(entry.parentPath, entry.name);
    hash.update(`${path}\0${entry.isFile() ? readFileSync(path, 'latin1') : ''}\0`);
  }
  return hash.digest('hex');
}
