import type { PipelineRunInfo } from '@devs/core';
import { quoteWord } from '../flags/commandWords.ts';
import type { Session } from '../project/Session.ts';
import { shortId } from './renderGate.ts';

type RunForHints = Pick<PipelineRunInfo, 'id' | 'status' | 'driver' | 'gates' | 'workspace' | 'agents'>;

/** How to resume a run. The command has the agents of the pipeline; the nodes of your own graph are in your program alone. */
export const resumeCommand = (
  { id, agents }: Pick<PipelineRunInfo, 'id' | 'agents'>,
  devs: Session['devs'],
): string => (agents === null ? `app.run(${JSON.stringify(id)}) in your program` : devs('resume', id));

/** What to type next, with what it does; never empty. */
export function nextCommands(run: RunForHints, devs: Session['devs']): readonly string[] {
  return STEPS[run.status](run, devs).map(([what, command]) => `${`${what}:`.padEnd(8)} ${command}`);
}

/** Shows the commits of a run in its folder. */
export const lookCommand = (workspace: string): string => `git -C ${quoteWord(workspace)} log --stat`;

type NextStep = readonly [what: string, command: string];

type StepsOf = (run: RunForHints, devs: Session['devs']) => readonly NextStep[];

const story: StepsOf = ({ id }, devs) => [['log', devs('log', id)]];

const hintsWhileOpen: StepsOf = (run, devs) => {
  const { id, status, driver, gates } = run;
  if (gates.length > 0) return gates.map((gate) => ['read', devs('show', shortId(gate))]);
  const isDriven = driver !== null && (status === 'created' || status === 'running');
  return [isDriven ? ['follow', devs('log', id, '--follow')] : ['resume', resumeCommand(run, devs)]];
};

const STEPS: Readonly<Record<PipelineRunInfo['status'], StepsOf>> = {
  created: hintsWhileOpen,
  running: hintsWhileOpen,
  paused: hintsWhileOpen,
  waiting: hintsWhileOpen,
  completed: (run, devs) => [
    ...story(run, devs),
    ...(run.workspace === null ? [] : [['look', lookCommand(run.workspace)] as const]),
  ],
  failed: (run, devs) => [...story(run, devs), ['retry', resumeCommand(run, devs)]],
  dead_letter: (run, devs) => [...story(run, devs), ['revive', devs('admin', 'revive', run.id)]],
  cancelled: story,
};
