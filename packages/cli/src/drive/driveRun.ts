import type { EventBus, Orchestrator, PipelineResult, Run } from '@devs/core';
import { EXIT, type ExitCode } from '../exitCodes.ts';
import { type GoalFlags, goalFrom } from '../flags/goalFlags.ts';
import type { RunSpec } from '../flags/runSpec.ts';
import { DECISION_RECORDED } from '../gates/recordDecision.ts';
import { ShownGates } from '../gates/ShownGates.ts';
import type { Session } from '../project/Session.ts';
import { exitCodeOf, outcomeDocument, renderOutcome } from '../render/renderOutcome.ts';
import { formatAgents } from '../render/renderStatus.ts';
import { gatePages } from '../show/gatePages.ts';
import { oneLine } from '../terminal/visible.ts';
import { type AskFlags, driveAsking } from './driveAsking.ts';
import { showActivities, showProgress, showRequests, showStatusLine } from './progress.ts';
import { showSilence } from './showSilence.ts';

export const VERBOSE_HELP = 'print the output of agents, checks and setup as it arrives';

export interface DriveFlags extends GoalFlags, AskFlags {
  /** Print all that agents, checks and setup tell, as it comes. */
  readonly verbose?: true;
  /** Run for every gate that opens. */
  readonly notify?: string;
}

interface RunToDrive {
  readonly spec: RunSpec;
  /** More members of the document under `--json`. */
  readonly beside?: object;
}

/** Drives a run, tells what happens and how it ended. */
export async function driveRun(
  devs: Orchestrator,
  run: Run,
  { spec, wait, verbose, beside = {}, ...flags }: DriveFlags & RunToDrive,
  session: Session,
): Promise<ExitCode> {
  const { io, out, devs: commandLine } = session;
  const { signal, abort } = io;
  const { title, agents, workspace } = await run.status();
  out.print({ style: 'bold', text: oneLine(`${run.id}  ${title}`) }, `agents: ${formatAgents(agents)}`);
  if (spec.agents !== 'none') {
    out.print(`checks: ${formatChecks(spec)}`, `sandbox: ${formatRunSandbox(spec)}`);
  }
  const stopProgress = showProgress(devs.events, out);
  const stopActivities = (verbose === true ? showActivities : showRequests)(devs.events, out);
  const stopSilence = showSilence(devs.events, out);
  const stopShowing = wait === true ? showWaiting(run, devs.events, session) : async () => {};
  const announce = (): void =>
    out.note('stopping at the next safe point; press Ctrl-C again to stop at once');
  const options = { drain: signal, wait: wait === true, ...goalFrom(flags), ...(abort && { signal: abort }) };
  const drive = async (): Promise<PipelineResult> => {
    const removeStatusLine = showStatusLine(run, devs.events, { out, stays: options.wait });
    signal.addEventListener('abort', announce, { once: true });
    try {
      return await run.resume(options);
    } finally {
      signal.removeEventListener('abort', announce);
      removeStatusLine();
    }
  };
  try {
    const result = await driveAsking(run, drive, { ...flags, ...(wait && { wait }) }, session);
    if (result === 'elsewhere') {
      out.print('', DECISION_RECORDED);
      return EXIT.ok;
    }
    out.result(
      { ...outcomeDocument({ id: run.id, workspace }, result), ...beside },
      renderOutcome({ id: run.id, workspace }, result, commandLine),
    );
    new ShownGates(session).remember(result.gates);
    return exitCodeOf(result);
  } finally {
    stopSilence();
    stopActivities();
    stopProgress();
    await stopShowing();
  }
}

/** The same command in two packages is told apart by its name. */
function formatChecks({ checks }: RunSpec): string {
  const words = checks.map(({ name, argv }) => (checks.length > 1 ? `${name}: ` : '') + argv.join(' '));
  return words.join(', ');
}

function formatRunSandbox({ sandbox }: RunSpec): string {
  if (sandbox === 'none') return 'none, commands have your full access';
  return typeof sandbox === 'string' ? sandbox : (sandbox[0] ?? '');
}

/** Prints each gate that a waiting run opens, once; await the returned function to stop. */
function showWaiting(run: Run, events: EventBus, session: Session): () => Promise<void> {
  const told = new Set<string>();
  let work = Promise.resolve();
  const show = async (): Promise<void> => {
    const gates = (await run.gates()).filter(({ sessionId }) => !told.has(sessionId));
    for (const gate of gates) {
      told.add(gate.sessionId);
      const { lines } = await gatePages({ run, gate }, { full: true }, session);
      session.out.print('', ...lines);
      new ShownGates(session).remember([gate]);
    }
  };
  // What cannot be read now is said by the drive, or by `devs show`.
  const stop = events.on('RUN_SUSPENDED', () => {
    work = work.then(show).catch(() => undefined);
  });
  return () => {
    stop();
    return work;
  };
}
