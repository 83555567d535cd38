// One LangChain in a process: messages of a second copy of @langchain/core could not be stored.

import { existsSync, readFileSync, realpathSync } from 'node:fs';
import nodeModule from 'node:module';
import path from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { usageError } from '../usageError.ts';

const CORE = '@langchain/core';
const ENGINE = '@devs/core';

const HERE = path.dirname(fileURLToPath(import.meta.url));

/** The oldest LangGraph that the engine supports. */
export const OLDEST = { name: '@langchain/langgraph', version: '1.7.3' } as const;

interface Copy {
  /** Its folder, without symbolic links. */
  readonly at: string;
  readonly version: string;
}

/**
 * Makes the engine of this command use the LangChain of the graphs, and sees that there is only one.
 *
 * Call it before anything has loaded LangChain.
 *
 * @param folder - Where the graphs are.
 * @param own - Where the modules of this command are.
 * @throws DevsError `CONFIG_INVALID` for two copies of `@langchain/core` among the project's dependencies, or a LangGraph that
 *   is too old.
 */
export async function useOneLangChain(folder: string, own = HERE): Promise<void> {
  const core = copyOf(CORE, folder);
  if (core === null) return; // the import of the graphs reports the missing package
  for (const name of dependenciesOf(folder)) {
    const copy = copyOf(name, folder);
    const its = copy === null ? null : copyOf(CORE, copy.at);
    if (its !== null && its.at !== core.at) throw twoCopies(core, name, its);
  }
  const langgraph = copyOf(OLDEST.name, folder);
  if (langgraph !== null && isOlder(langgraph.version, OLDEST.version))
    throw usageError(
      `The graphs use ${OLDEST.name} ${langgraph.version}; at least ${OLDEST.version} is needed.`,
      `Run npm install ${OLDEST.name}@latest ${CORE}@latest in ${folder}.`,
    );
  if (copyOf(ENGINE, folder) === null && copyOf(CORE, own)?.at !== core.at) await leadTo(folder, own);
}

const twoCopies = (core: Copy, name: string, its: Copy): Error =>
  usageError(
    `There are two copies of ${CORE}, so messages could not be stored: ${core.version} in ${core.at}, and ${its.version} in ${its.at}, which ${name} uses.`,
    `Run npm dedupe, or pin one version of ${CORE} with "overrides" in package.json.`,
  );

/** Direct dependencies that are LangChain's or ours, and LangGraph. */
function dependenciesOf(folder: string): readonly string[] {
  const manifest = nearest(folder, 'package.json');
  const { dependencies = {}, devDependencies = {} } = (
    manifest === null ? {} : JSON.parse(readFileSync(manifest, 'utf8'))
  ) as Partial<Record<'dependencies' | 'devDependencies', Readonly<Record<string, string>>>>;
  const names = Object.keys({ ...devDependencies, ...dependencies });
  return [...new Set([OLDEST.name, ...names.filter(usesLangChain)])];
}

const usesLangChain = (name: string): boolean =>
  /^@langchain\/(?!core$)|^(?:langchain|deepagents)$/.test(name) || name === ENGINE;

/** Finds a package as Node.js does, without its `exports`. */
function copyOf(name: string, folder: string): Copy | null {
  const manifest = nearest(folder, path.join('node_modules', name, 'package.json'));
  if (manifest === null) return null;
  const { version = '0.0.0' } = JSON.parse(readFileSync(manifest, 'utf8')) as { readonly version?: string };
  return { at: realpathSync(path.dirname(manifest)), version };
}

function nearest(folder: string, name: string): string | null {
  for (let at = folder; ; at = path.dirname(at)) {
    const file = path.join(at, name);
    if (existsSync(file)) return file;
    if (at === path.dirname(at)) return null;
  }
}

function isOlder(version: string, than: string): boolean {
  const [left, right] = [version, than].map((text) => text.split(/[.-]/).slice(0, 3).map(Number));
  for (const [at, part] of (right ?? []).entries()) {
    const other = left?.[at] ?? 0;
    if (other !== part) return other < part;
  }
  return false;
}

/** The text of a module: a Node.js without `registerHooks` runs hooks on a thread of their own. */
const HOOKS = `
let places;
export const initialize = (given) => { places = given; };
export function resolve(specifier, context, next) {
  const isOurs = /^(?:@langchain\\/|langchain(?:\\/|$))/.test(specifier) && context.parentURL?.startsWith(places.own);
  return next(specifier, isOurs ? { ...context, parentURL: places.project } : context);
}`;

interface Hooks {
  initialize(places: { readonly own: string; readonly project: string }): void;
  readonly resolve: unknown;
}

/** Makes modules in `own` resolve LangChain from `folder`. */
async function leadTo(folder: string, own: string): Promise<void> {
  const data = {
    own: pathToFileURL(own).href,
    project: pathToFileURL(path.join(folder, 'package.json')).href,
  };
  const url = `data:text/javascript,${encodeURIComponent(HOOKS)}`;
  const { registerHooks } = nodeModule as {
    readonly registerHooks?: (hooks: Pick<Hooks, 'resolve'>) => unknown;
  };
  if (registerHooks === undefined) return nodeModule.register(url, { data });
  const { initialize, resolve } = (await import(url)) as Hooks;
  initialize(data);
  registerHooks({ resolve });
}
