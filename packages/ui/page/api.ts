import type { ErrorView } from '../src/http/errors.ts';
import { secret } from './session.ts';

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
