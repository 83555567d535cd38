import type { Orchestrator } from '@devs/core';
import { z } from 'zod';
import { UiError } from '../http/errors.ts';
import { readJson, readQuery } from '../http/readRequest.ts';
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
];
