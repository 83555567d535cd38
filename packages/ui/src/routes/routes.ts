import { z } from 'zod';
import { UiError } from '../http/errors.ts';
import { eventStream } from '../http/eventStream.ts';
import { readJson } from '../http/readJson.ts';
import { json, respond } from '../http/responses.ts';
import { gateView } from '../views/gateView.ts';
import { inboxView, runsView, waitingView } from '../views/inboxView.ts';
import { runView } from '../views/runView.ts';
import { shownView } from '../views/shownView.ts';
import { ASSETS } from './assets.ts';
import type { Route } from './Route.ts';
import { RUN_ROUTES } from './runRoutes.ts';

const words = z.exactOptional(z.string());
const SIGN_IN = z.strictObject({ code: z.string().max(200) });
/** Which kind of gate takes which of it, the engine knows. Who decides is never part of what is sent. */
const DECISION = z.strictObject({
  artifactHash: z.string().regex(/^[0-9a-f]{64}$/),
  answer: z.strictObject({
    approved: z.exactOptional(z.boolean()),
    action: z.exactOptional(z.string().max(40)),
    feedback: words,
    guidance: words,
    reason: words,
  }),
});

const signIn: Route = {
  method: 'POST',
  path: '/api/session',
  access: 'open',
  handle: async ({ request }, deps) => {
    const { code } = await readJson(request, SIGN_IN);
    const secret = deps.signIn?.(code) ?? null;
    if (secret === null) {
      throw new UiError(401, {
        code: 'CODE_REFUSED',
        message: 'This link was used, or is of a server that has ended.',
        remedy: 'Open the newest link that devs ui has printed.',
      });
    }
    return json({ secret });
  },
};

const about: Route = {
  method: 'GET',
  path: '/api/me',
  access: 'read',
  handle: async (_asked, { by, isReadOnly }) => json(shownView({ by, isReadOnly })),
};

const inbox: Route = {
  method: 'GET',
  path: '/api/inbox',
  access: 'read',
  handle: async (_asked, { file }) => json(shownView(await file.read(inboxView))),
};

const waiting: Route = {
  method: 'GET',
  path: '/api/gates',
  access: 'read',
  handle: async ({ request }, { file }) =>
    json(shownView(await file.read((reader) => waitingView(reader, afterOf(request))))),
};

const runs: Route = {
  method: 'GET',
  path: '/api/runs',
  access: 'read',
  handle: async ({ request }, { file }) =>
    json(shownView(await file.read((reader) => runsView(reader, afterOf(request))))),
};

const count: Route = {
  method: 'GET',
  path: '/api/waiting',
  access: 'read',
  handle: async (_asked, { file }) =>
    json(await file.read(async (reader) => ({ total: (await reader.openGates({ limit: 1 })).total }))),
};

const run: Route = {
  method: 'GET',
  path: '/api/runs/:run',
  access: 'read',
  handle: async ({ params }, { file }) =>
    json(shownView(await file.read(async (reader) => runView(await reader.run(params['run'] ?? ''))))),
};

const gate: Route = {
  method: 'GET',
  path: '/api/runs/:run/gates/:gate',
  access: 'read',
  handle: async ({ params: { run = '', gate: id = '' } }, { file, readCode }) =>
    json(shownView(await file.read(async (reader) => gateView(await reader.run(run), id, readCode)))),
};

const decide: Route = {
  method: 'POST',
  path: '/api/runs/:run/gates/:gate/decision',
  access: 'decide',
  handle: async ({ request, params: { run = '', gate: sessionId = '' } }, { file, by }) => {
    const { artifactHash, answer } = await readJson(request, DECISION);
    const { status } = await file.write(async (devs) =>
      (await devs.run(run)).decide({ sessionId, artifactHash }, { ...answer, by, via: 'page' }),
    );
    return json({ status });
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
  ...[signIn, about, inbox, waiting, count, runs, run, gate, decide, changes],
  ...RUN_ROUTES,
];
