import { z } from 'zod';
import { UiError } from '../http/errors.ts';
import { readJson } from '../http/readRequest.ts';
import { eventStream, jsonResponse, respond } from '../http/responses.ts';
import { countsView, inboxView, runsView, waitingView } from '../views/inboxView.ts';
import { runView, type ShownRunView } from '../views/runView.ts';
import { shownView } from '../views/shownView.ts';
import { GATE_ROUTES } from './gateRoutes.ts';
import { ASSETS, type Route } from './Route.ts';
import { RUN_ROUTES } from './runRoutes.ts';

const SIGN_IN = z.strictObject({ code: z.string().max(200) });
const signInRoute: Route = {
  method: 'POST',
  path: '/api/session',
  access: 'open',
  handle: async ({ request }, deps) => {
    const { code } = await readJson(request, SIGN_IN);
    const secret = deps.signIn?.(code) ?? null;
    if (secret === null) {
      throw new UiError(401, {
        code: 'CODE_REFUSED',
        message: 'This link was already used, or its server has stopped.',
        remedy: 'Open the newest link that devs ui printed.',
      });
    }
    return jsonResponse({ secret });
  },
};

const about: Route = {
  method: 'GET',
  path: '/api/me',
  access: 'read',
  handle: async (_asked, { place: { project }, by, isReadOnly, drives, starting }) => {
    const canDrive = !isReadOnly && drives !== undefined;
    const canStart = canDrive && starting !== undefined;
    const view = { by, isReadOnly, canDrive, canStart, project };
    return jsonResponse(await shownView(view));
  },
};

const inboxRoute: Route = {
  method: 'GET',
  path: '/api/inbox',
  access: 'read',
  handle: async (_asked, { place }) =>
    jsonResponse(await shownView(await place.read((reader) => inboxView(reader)))),
};

const waitingRoute: Route = {
  method: 'GET',
  path: '/api/gates',
  access: 'read',
  handle: async ({ request }, { place }) =>
    jsonResponse(await shownView(await place.read((reader) => waitingView(reader, afterOf(request))))),
};

const runs: Route = {
  method: 'GET',
  path: '/api/runs',
  access: 'read',
  handle: async ({ request }, { place }) =>
    jsonResponse(await shownView(await place.read((reader) => runsView(reader, afterOf(request))))),
};

const countRoute: Route = {
  method: 'GET',
  path: '/api/waiting',
  access: 'read',
  handle: async (_asked, { place }) => jsonResponse(await place.read(countsView)),
};

const runRoute: Route = {
  method: 'GET',
  path: '/api/runs/:run',
  access: 'read',
  handle: async ({ params: { run = '' } }, { place, drives, readBranch }) => {
    const view = await place.read((reader) => reader.view(run, runView));
    const failure = drives?.failureOf(run) ?? null;
    const branch = view.commits.length === 0 ? null : ((await readBranch?.(run)) ?? null);
    return jsonResponse(await shownView<ShownRunView>({ ...view, failure, branch }));
  },
};

const changes: Route = {
  method: 'GET',
  path: '/api/changes',
  access: 'read',
  handle: async (_asked, { feed }) => respond(eventStream(feed), 'text/event-stream'),
};

const afterOf = ({ url }: Request): string | undefined => new URL(url).searchParams.get('after') ?? undefined;

/** Every path there is. */
export const ROUTES: readonly Route[] = [
  ...ASSETS,
  ...[signInRoute, about, inboxRoute, waitingRoute, countRoute, runs, runRoute, changes],
  ...GATE_ROUTES,
  ...RUN_ROUTES,
];
