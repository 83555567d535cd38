import type { EventBus } from '@devs/core';
import type { Output } from '../terminal/Output.ts';
import { oneLine } from '../terminal/visible.ts';

/** So long a command may be silent before the usual causes are printed. */
const SILENCE_MS = 30_000;

const LOOK_MS = 1_000;

/** The usual causes: of commands that fetch packages, and of commands that only run. */
const USUALLY = {
  setup:
    'a registry that cannot be reached (a proxy, a company’s certificate, a login in ~/.npmrc: "network" in .devs/config.json), or a long download',
  check:
    'a service it waits for (checks have no network unless "network" is true), a variable or file it was not given ("passEnv", "envFile"), or a long test',
} as const;

/** A command that runs. */
interface Running {
  readonly kind: keyof typeof USUALLY;
  readonly command: string;
  /** When it printed something, or began, ms. */
  readonly heardAt: number;
  readonly isSaid: boolean;
}

/**
 * Prints the usual causes, once for each silence, where setup or a check is silent for half a minute. Call the returned
 * function to stop.
 */
export function showSilence(
  events: Pick<EventBus, 'onActivity' | 'on'>,
  out: Pick<Output, 'print'>,
): () => void {
  let running: Running | null = null;
  let isSetup = false;
  const end = (): void => {
    running = null;
  };
  const stops = [
    events.on('NODE_STARTED', end),
    events.on('STEP_FINISHED', end),
    events.on('RUN_SUSPENDED', end),
    events.onActivity((activity, { step }) => {
      if (activity.kind === 'output') running &&= { ...running, heardAt: performance.now(), isSaid: false };
      else if (activity.kind !== 'doing' || activity.what === step) end();
      else if (activity.what === 'setup') isSetup = true;
      else {
        const kind = isSetup ? 'setup' : 'check';
        running = { kind, command: activity.what, heardAt: performance.now(), isSaid: false };
        isSetup = false;
      }
    }),
  ];
  const timer = setInterval(() => {
    if (running === null || running.isSaid || performance.now() - running.heardAt < SILENCE_MS) return;
    running = { ...running, isSaid: true };
    const { command, kind } = running;
    out.print({
      style: 'dim',
      text: `         ${oneLine(command)} printed nothing for ${SILENCE_MS / 1_000} s; usually: ${USUALLY[kind]}`,
    });
  }, LOOK_MS);
  timer.unref();
  return () => {
    clearInterval(timer);
    for (const stop of stops) stop();
  };
}
