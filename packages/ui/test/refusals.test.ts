import { existsSync } from 'node:fs';
import { join } from 'node:path';
import type { Gate } from '@devs/core';
import { fakeAgents, MemoryWorkspace, scriptedChecks } from '@devs/core/testing';
import { describe, expect } from 'vitest';
import type { Route } from '../src/routes/Route.ts';
import { ROUTES } from '../src/routes/routes.ts';
import { SESSION_HEADER } from '../src/session/OneTimeCodes.ts';
import { serve, test, waitingRun } from './support/fixtures.ts';
import { rawRequest } from './support/rawRequest.ts';

/** What a browser sends with a request of our own page. */
interface Sent {
  host: string;
  origin: string | null;
  site: string | null;
  type: string | null;
  secret: string | null;
  line?: string;
}

interface Attack {
  readonly name: string;
  /** Which routes it could be tried on. */
  readonly fits?: (route: Route) => boolean;
  readonly sent: (ours: Sent) => Partial<Sent>;
}

const changes = ({ method }: Route): boolean => method === 'POST';
const isGuarded = ({ access }: Route): boolean => access !== 'open';
const EVIL = 'http://evil.example';

const ATTACKS: readonly Attack[] = [
  { name: 'a foreign Host', sent: () => ({ host: 'evil.example' }) },
  {
    name: 'a rebound Host, which sends no Origin',
    sent: ({ host }) => ({ host: host.replace('localhost', 'evil.example'), origin: null, site: null }),
  },
  { name: 'the Host of another port', sent: () => ({ host: 'localhost:1' }) },
  {
    name: 'a foreign address in the line of the request',
    sent: ({ line = '' }) => ({ line: line.replace(' /', ` ${EVIL}/`) }),
  },
  { name: 'no Origin', fits: changes, sent: () => ({ origin: null }) },
  { name: 'a foreign Origin', sent: () => ({ origin: EVIL }) },
  { name: 'a null Origin', sent: () => ({ origin: 'null' }) },
  { name: 'a fetch from another site', sent: () => ({ site: 'cross-site' }) },
  { name: 'a fetch from another port', sent: () => ({ site: 'same-site' }) },
  { name: 'a navigation that changes something', fits: changes, sent: () => ({ site: 'none' }) },
  { name: 'no word of where it comes from', sent: () => ({ site: null }) },
  { name: 'no token', fits: isGuarded, sent: () => ({ secret: null }) },
  { name: 'a wrong token', fits: isGuarded, sent: () => ({ secret: 'x'.repeat(43) }) },
  { name: 'a form', fits: changes, sent: () => ({ type: 'application/x-www-form-urlencoded' }) },
  { name: 'a form as plain text', fits: changes, sent: () => ({ type: 'text/plain' }) },
  { name: 'no type', fits: changes, sent: () => ({ type: null }) },
];

const CASES = ATTACKS.flatMap((attack) =>
  ROUTES.filter(attack.fits ?? (() => true)).map((route) => ({ attack, route })),
);

/** A path with what is there in the place of its parameters. */
const lineOf = ({ method, path }: Route, { sessionId, artifactHash }: Gate): string =>
  `${method} ${path
    .replace(':run', 'shop')
    .replace(':file', 'part.js')
    .replace(/:gate|:since/g, sessionId)
    .replace(':hash', artifactHash)}`;

/** What our own page sends there. */
function bodyOf({ path }: Route, { artifactHash }: Gate, code: string | undefined): object {
  const draft = { at: 1, words: 'No.', comments: [], fields: {} };
  const bodies: Readonly<Record<string, object>> = {
    session: { code },
    decision: { artifactHash, answer: { approved: false, feedback: 'No.' } },
    draft: { artifactHash, draft },
    question: { artifactHash, question: 'Why?' },
    shown: { artifactHash },
    reveal: { artifactHash },
    rewind: { way: 'preview', task: 'T1' },
    stop: { stop: 'cancel' },
    drive: {},
    runs: { brief: '# Another' },
  };
  return bodies[path.split('/').at(-1) ?? ''] ?? {};
}

/** What is answered of a run that has no plan yet. */
const WITHOUT_TASKS: Readonly<Record<string, number>> = {
  // `stop` has cancelled it.
  '/api/runs/:run/drive': 409,
  '/api/runs/:run/rewind': 409,
  '/api/runs/:run/commits/:commit': 404,
  '/api/runs/:run/gates/:gate/files/:path': 404,
};

describe('on raw sockets', () => {
  test('every route answers its own page, and refuses all of these', async ({ dir }) => {
    const agents = fakeAgents({ tasks: 2 });
    const run = await waitingRun(dir, agents);
    const [gate] = (await run.gates()) as [Gate];
    const [checkpoint] = await run.checkpoints({ limit: 1 });
    const drafts = join(dir, 'drafts');
    const asking = { agents, workspace: new MemoryWorkspace(), checks: scriptedChecks() };
    const driven: string[] = [];
    const { port, codes } = await serve(dir, {
      ...{ drafts, asking, rewinding: async (_id, work) => work(run) },
      drive: true,
      driving: async (id) => driven.push(id),
      starting: async () => {
        driven.push('another');
        return 'shop';
      },
    });
    const pathOf = (route: Route): string =>
      lineOf(route, gate).replace(':checkpoint', checkpoint?.checkpointId ?? '');
    const ours: Sent = {
      host: `localhost:${port}`,
      origin: `http://localhost:${port}`,
      site: 'same-origin',
      type: 'application/json',
      secret: '',
    };
    const send = async (route: Route, sent: Sent, code = codes.at(-1)) => {
      const { method } = route;
      const line = pathOf(route);
      const { host, origin, site, type, secret, line: asked = line } = { line, ...sent };
      return rawRequest(port, {
        line: asked,
        headers: [
          `Host: ${host}`,
          ...(origin === null ? [] : [`Origin: ${origin}`]),
          ...(site === null ? [] : [`Sec-Fetch-Site: ${site}`]),
          ...(secret === null ? [] : [`${SESSION_HEADER}: ${secret}`]),
          ...(method === 'POST' && type !== null ? [`Content-Type: ${type}`] : []),
        ],
        ...(method === 'POST' && { body: JSON.stringify(bodyOf(route, gate, code)) }),
      });
    };
    const signIn = ROUTES.find(({ path }) => path === '/api/session') as Route;
    const [used] = codes;
    const { body } = await send(signIn, ours);
    ours.secret = (JSON.parse(/\{.*\}/.exec(body)?.[0] ?? '{}') as { secret: string }).secret;

    for (const { attack, route } of CASES) {
      const line = pathOf(route);
      const { status, body } = await send(route, { ...ours, ...attack.sent({ ...ours, line }) });
      expect.soft([401, 403, 415], `${attack.name} at ${line}`).toContain(status);
      expect.soft(body, `${attack.name} at ${line}`).not.toContain('Sell things');
    }
    expect(await send(signIn, ours, used), 'a used code').toMatchObject({ status: 401 });
    expect(await run.gates(), 'nothing was decided').toHaveLength(1);
    expect(await run.exchanges(gate), 'nobody was asked').toEqual([]);
    expect(existsSync(drafts), 'nothing was written').toBe(false);
    expect(driven, 'nothing was executed').toEqual([]);
    expect(codes, 'no code was used up by a refused request').toHaveLength(2);

    for (const route of ROUTES) {
      const status = WITHOUT_TASKS[route.path] ?? 200;
      expect(await send(route, ours), route.path).toMatchObject({ status });
    }
    expect(await run.gates(), 'our own page has decided').toHaveLength(0);
  });

  test('every response says what a browser must not do with it', async ({ dir }) => {
    const { port } = await serve(dir);
    for (const line of ['GET /', 'GET /page.js', 'GET /api/inbox', 'GET /nowhere', 'PUT /']) {
      const headers = [`Host: localhost:${port}`, 'Sec-Fetch-Site: none'];
      const { head } = await rawRequest(port, { line, headers });
      expect(head).toMatch(/content-security-policy: default-src 'none'; script-src 'self'/);
      expect(head).not.toMatch(/unsafe-|access-control-|set-cookie/i);
      expect(head).toContain('x-content-type-options: nosniff');
    }
  });

  test('what is no request is answered, and ends nothing', async ({ dir }) => {
    const { port } = await serve(dir);
    for (const line of ['GET //', 'GET http://[', 'TRACE /', 'CONNECT a:1']) {
      const { status } = await rawRequest(port, { line, headers: [`Host: localhost:${port}`] });
      expect(status === 400 || status === 403 || Number.isNaN(status), `${line}: ${status}`).toBe(true);
    }
    const headers = [`Host: localhost:${port}`, 'Sec-Fetch-Site: none'];
    expect(await rawRequest(port, { line: 'GET /', headers })).toMatchObject({ status: 200 });
  });
});
