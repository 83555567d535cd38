import { existsSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { respond } from '../http/responses.ts';
import type { Route } from './Route.ts';

/** The text of a file of the page, by its name. */
export type ReadAsset = (name: string) => Promise<string>;

/** What the build puts into `dist`, as far from the sources as from what they become; a bundle has it beside it. */
function pageFolder(): URL {
  const beside = new URL('./page/', import.meta.url);
  return existsSync(beside) ? beside : new URL('../../dist/page/', import.meta.url);
}

export const readBuiltAsset: ReadAsset = (name) => readFile(new URL(name, pageFolder()), 'utf8');

const asset = (path: Route['path'], name: string, type: string): Route => ({
  method: 'GET',
  path,
  access: 'open',
  handle: async (_asked, { readAsset }) => respond(await readAsset(name), `${type}; charset=utf-8`),
});

/** The page itself: the same for everybody, without a word of any run. */
export const ASSETS: readonly Route[] = [
  asset('/', 'index.html', 'text/html'),
  asset('/page.js', 'page.js', 'text/javascript'),
  asset('/page.css', 'page.css', 'text/css'),
];
