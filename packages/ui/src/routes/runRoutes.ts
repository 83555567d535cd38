import type { Orchestrator } from '@devs/core';
import { z } from 'zod';
import { UiError } from '../http/errors.ts';
import { MOST_OF_A_TEXT, readJson, readQuery } from '../http/readRequest.ts';
import { jsonResponse } from '../http/responses.ts';
import type { ReadableRun } from '../state/RunsPlace.ts';
import { logView } from '../views/logView.ts';
import { rewindView } from '../views/rewindView.ts';
import { shownView } from '../views/shownView.ts';
import { stopRun } from '../views/stopView.ts';
import { timelineView } from '../views/timelineView.ts';
import { valuesView } from '../views/valuesView.ts';
import type { Route, RouteRequest } from './Route.ts';

const POSITION = z.exactOptional(z.coerce.number().int().min(1));
const LOG = z.strictObject({
  before: POSITION,
  task: z.exactOptional(z.string().max(20)),
  kind: z.exactOptional(z.enum(['people', 'guards', 'tasks', 'work'])),
  text: z.exactOptional(z.string().max(200)),
});
const CHECKPOINT = z.strictObject({ before: z.exactOptional(z.string().max(100)) });
/** Who sets a run back is never part of what is sent. */
const REWIND = z.discriminatedUnion('way', [
  z.strictObject({ way: z.literal('preview'), task: z.string().max(20) }),
  z.strictObject({
    way: z.literal('back'),
    task: z.string().max(20),
    /** Labels of what the person was told is undone. */
    undone: z.array(z.string().max(20)).max(10_000),
    reason: z.exactOptional(z.string().max(2_000)),
  }),
  z.strictObject({ way: z.literal('undo'), reason: z.exactOptional(z.string().max(2_000)) }),
]);

/** Without a name: that comes from `identify`. */
const STOP = z.strictObject({ stop: z.enum(['pause', 'abort', 'cancel']) });

/** A part of a run, at a path of its own: a page asks for it when it is looked at. */
const runPartRoute = (
  name: string,
  view: (run: ReadableRun, asked: RouteRequest) => Promise<object>,
): Route => ({
  method: 'GET',
  path: `/api/runs/:run/${name}`,
  access: 'read',
  handle: async (asked, { place }) =>
    jsonResponse(
      await shownView(await place.read((reader) => reader.view(runParam(asked), (run) => view(run, asked)))),
    ),
});

const runParam = ({ params: { run = '' } }: RouteRequest): string => run;

const timeline = runPartRoute('timeline', async (run) => {
  const { tasks, driver } = await run.status();
  const parts = { tasks, isDriven: driver !== null, steps: await run.steps() };
  const gates = { gates: await run.gates(), past: await run.closedGates() };
  return { timeline: timelineView({ ...parts, ...gates }, Date.now()) };
});

const log = runPartRoute('log', async (run, { request }) => logView(run, readQuery(request, LOG)));

const graph = runPartRoute('graph', async (run) => ({
  ...(await run.graph()),
  running: (await run.status()).running?.node ?? null,
}));

const checkpoints = runPartRoute('checkpoints', async (run, { request }) => {
  const limit = 50;
  const found = await run.checkpoints({ ...readQuery(request, CHECKPOINT), limit });
  return { checkpoints: found, earlier: found.length === limit ? found.at(-1)?.checkpointId : null };
});

const values = runPartRoute('checkpoints/:checkpoint', async (run, { params: { checkpoint = '' } }) =>
  valuesView(await run.valuesAt(checkpoint)),
);

/** Only what is a commit of this run: whoever reads it may ask git for any. */
const commitRoute: Route = {
  method: 'GET',
  path: '/api/runs/:run/commits/:commit',
  access: 'read',
  handle: async (asked, { place, readCommit }) => {
    const { commit: id = '' } = asked.params;
    const { tasks } = await place.read((reader) => reader.view(runParam(asked), (run) => run.status()));
    if (!tasks.some(({ gitHash }) => gitHash === id)) throw noCommit();
    return jsonResponse(await shownView({ code: await readCommit(runParam(asked), id) }));
  },
};

const noCommit = (): UiError =>
  new UiError(404, {
    code: 'COMMIT_NOT_FOUND',
    message: 'No task of this run has this commit.',
    remedy: 'Reload the page to see the current commits of the tasks.',
  });

const rewindRoute: Route = {
  method: 'POST',
  path: '/api/runs/:run/rewind',
  access: 'decide',
  handle: async (asked, { by, rewinding }) => {
    const wanted = await readJson(asked.request, REWIND);
    return jsonResponse(
      await shownView(await rewinding(runParam(asked), (run) => rewindView(run, wanted, by))),
    );
  },
};

const stopRoute: Route = {
  method: 'POST',
  path: '/api/runs/:run/stop',
  access: 'decide',
  handle: async (asked, { place, by }) => {
    const { stop } = await readJson(asked.request, STOP);
    const stopOne = async (devs: Orchestrator) => stopRun(await devs.run(runParam(asked)), stop, by);
    return jsonResponse(await shownView(await place.write(stopOne)));
  },
};

/** The body is empty. */
const NOTHING = z.strictObject({});

const driveRoute: Route = {
  method: 'POST',
  path: '/api/runs/:run/drive',
  access: 'decide',
  handle: async (asked, { place, drives }) => {
    await readJson(asked.request, NOTHING);
    const run = runParam(asked);
    const standing = () => place.read((reader) => reader.view(run, async (of) => of.status()));
    const { status } = await standing();
    if (drives === undefined) throw drivesNothing(run);
    if (ENDED.has(status)) throw hasEnded(status);
    await drives.start(run, standing);
    return jsonResponse({ isDriven: drives.isDriving(run) });
  },
};

const ENDED: ReadonlySet<string> = new Set(['completed', 'cancelled', 'dead_letter']);

const hasEnded = (status: string): UiError =>
  new UiError(409, {
    code: 'RUN_ENDED',
    message: `The run is ${status.replace('_', ' ')}: there is nothing to go on with.`,
    remedy: 'Reload the page to see how it ended.',
  });

const drivesNothing = (run: string): UiError =>
  new UiError(403, {
    code: 'DRIVE_REFUSED',
    message: 'This page does not execute runs.',
    remedy: `Type devs resume ${run} in a terminal.`,
  });

const BRIEF = z.strictObject({ brief: z.string().max(200_000) });

const startRoute: Route = {
  method: 'POST',
  path: '/api/runs',
  access: 'decide',
  handle: async ({ request }, { place, by, drives, starting }) => {
    const { brief } = await readJson(request, BRIEF, MOST_OF_A_TEXT);
    if (starting === undefined || drives === undefined) throw startsNothing();
    const run = await starting(brief, by);
    await drives.start(run, () => place.read((reader) => reader.view(run, async (of) => of.status())));
    return jsonResponse({ run });
  },
};

const startsNothing = (): UiError =>
  new UiError(403, {
    code: 'DRIVE_REFUSED',
    message: 'This page does not start runs.',
    remedy: 'Type devs run brief.md in a terminal.',
  });

/** What is looked at of one run. */
export const RUN_ROUTES: readonly Route[] = [
  timeline,
  log,
  graph,
  checkpoints,
  values,
  commitRoute,
  rewindRoute,
  stopRoute,
  driveRoute,
  startRoute,
];
