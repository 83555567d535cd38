// The server of this page: the secret of this tab, requests and their paths.
import type { ErrorView } from '../src/http/errors.ts';
import type { GateView } from '../src/views/gateView.ts';

/** Of this tab alone; no other page can read it, and no browser sends it by itself. */
const SECRET = 'devs-session';

/** The secret of this tab; `null` before anybody has signed in here. */
const secret = (): string | null => sessionStorage.getItem(SECRET);

/**
 * The code in the fragment, which is taken out of the address at once: it is no part of any history. What follows it is where
 * the link leads.
 */
export function takeCode(): string | null {
  const [, code = null, at = ''] = /^#code=([\w-]+)(?:&at=(\/.*))?$/.exec(location.hash) ?? [];
  if (code !== null) history.replaceState(null, '', location.pathname + (at && `#${at}`));
  return code;
}

export const keepSecret = (given: string): void => sessionStorage.setItem(SECRET, given);

/** What the server said no with, in its own words. */
export class ApiError extends Error {
  readonly view: ErrorView;
  readonly status: number;

  constructor(view: ErrorView, status: number) {
    super(view.message);
    this.view = view;
    this.status = status;
  }
}

/** Relative to the page, wherever it is mounted. */
const at = (path: string): string => new URL(path, document.baseURI).href;

const own = (): Record<string, string> => ({ 'x-devs-session': secret() ?? '' });

/** @throws ApiError */
export async function get<View>(path: string): Promise<View> {
  return readJsonOrThrow(await reachServer(fetch(at(path), { headers: own() })));
}

/** @throws ApiError */
export async function post<View>(path: string, body: object): Promise<View> {
  const headers = { ...own(), 'content-type': 'application/json' };
  return readJsonOrThrow(
    await reachServer(fetch(at(path), { method: 'POST', headers, body: JSON.stringify(body) })),
  );
}

/** Calls `onChange` for each change that the server tells, until it is gone. @throws ApiError */
export async function readChanges(onChange: () => void): Promise<void> {
  const response = await reachServer(fetch(at('api/changes'), { headers: own() }));
  if (!response.ok) await readJsonOrThrow(response);
  const reader = response.body?.pipeThrough(new TextDecoderStream()).getReader();
  let text = '';
  for (;;) {
    const piece = await reader?.read();
    if (piece === undefined || piece.done) return;
    text += piece.value;
    const events = text.split('\n\n');
    text = events.pop() ?? '';
    if (events.some((event) => event.startsWith('event: change'))) onChange();
  }
}

async function reachServer(asked: Promise<Response>): Promise<Response> {
  try {
    return await asked;
  } catch {
    const remedy = 'Start devs ui again and open the link that it prints. Your data is safe.';
    throw new ApiError({ code: 'SERVER_GONE', message: 'The server of this page has stopped.', remedy }, 0);
  }
}

async function readJsonOrThrow<View>(response: Response): Promise<View> {
  const body = (await response.json()) as View & { readonly error?: ErrorView };
  if (body.error !== undefined) throw new ApiError(body.error, response.status);
  return body;
}

/** The routes of a run begin so. */
export const runPath = (runId: string): string => `api/runs/${encodeURIComponent(runId)}`;

/** The routes of a gate begin so. */
export const gatePath = ({ threadId, sessionId }: Pick<GateView, 'threadId' | 'sessionId'>): string =>
  `${runPath(threadId)}/gates/${encodeURIComponent(sessionId)}`;
