import path from 'node:path';
import { pathToFileURL } from 'node:url';
import type { durable } from '@devs/core';
import { clusterAt } from '../cluster/ClusterAt.ts';
import { acceptedStateFile } from '../project/acceptedStateFile.ts';
import { clusterRuns } from '../project/openCluster.ts';
import { limitsIn, projectStateFile } from '../project/openProject.ts';
import { encryptionKeyOf, type Session } from '../project/Session.ts';
import { usageError } from '../usageError.ts';
import { exportOf, importGraphModule, resolvedFrom } from './graphModule.ts';
import {
  type LanggraphConfig,
  type NamedGraph,
  readLanggraphConfig,
  setVariables,
} from './langgraphConfig.ts';
import { useOneLangChain } from './oneLangChain.ts';
import { openPagePlace } from './pagePlace.ts';
import { isUnrecordedAgent } from './paidAgain.ts';
import type { Served, ServedApp } from './Served.ts';

type MakeDurable = typeof durable;
type Source = Parameters<MakeDurable>[0];
type Webhooks = NonNullable<Parameters<MakeDurable>[1]['webhooks']>;

interface LoadedGraph {
  readonly id: string;
  readonly source: Source;
}

/**
 * Makes the graphs of a `langgraph.json` durable: over the cluster that is named, else over the project's state file.
 *
 * @param file - Absolute.
 * @throws DevsError `CONFIG_INVALID` for a file, a graph or a copy of LangChain that cannot be used; those of `devs resume` for the
 *   state file.
 */
export async function langgraphApps(file: string, session: Session): Promise<Served> {
  const config = readLanggraphConfig(file);
  setVariables(config.env);
  await useOneLangChain(config.folder);
  const there = withVariables(config, session);
  const graphs: LoadedGraph[] = [];
  for (const graph of config.graphs) graphs.push({ id: graph.id, source: await loadGraph(graph) });
  const makeDurable = await engineFor(config.folder);
  const [place, limits] = [await placeOf(there), await limitsIn(there.dir)];
  const told = { webhooks: webhooksOf(config, there.io.env), telemetry: config.telemetry };
  const apps = graphs.map(({ id, source }): [string, ServedApp] => {
    const store = place.runs === null && !hasStore(source) ? { store: 'file' as const } : {};
    const at = place.runs === null ? { file: place.file, ...encryptionKeyOf(there) } : { runs: place.runs };
    return [
      id,
      made(id, () => makeDurable(source, { ...at, ...store, ...(limits && { limits }), ...told, name: id })),
    ];
  });
  return {
    apps: Object.fromEntries(apps),
    runs: place.runs,
    place: await openPagePlace(undefined, there),
    notTaken: config.notTaken,
    unrecorded: graphs.filter(({ source }) => isUnrecordedAgent(source)).map(({ id }) => id),
  };
}

/** @throws DevsError `CONFIG_INVALID` for a variable without a value. */
function webhooksOf({ webhooks }: LanggraphConfig, env: Session['io']['env']): Webhooks {
  const resolved = (text: string): string => {
    if (!text.startsWith('$')) return text;
    const value = env[text.slice(1)];
    if (value !== undefined && value !== '') return value;
    throw usageError(`${text.slice(1)} has no value; a webhook in langgraph.json needs it.`, 'Set it.');
  };
  const named = Object.entries(webhooks).map(([name, { url, secret, ...events }]) => [
    name,
    { ...events, url: resolved(url), secret: resolved(secret) },
  ]);
  return Object.fromEntries(named) as Webhooks;
}

/** The session with the variables of the file, which may name the cluster and the key of the state file. */
function withVariables({ env }: LanggraphConfig, session: Session): Session {
  const io = { ...session.io, env: { ...env, ...session.io.env } };
  return { ...session, io, cluster: session.cluster ?? clusterAt({ schema: session.schema }, io.env) };
}

async function placeOf(session: Session) {
  if (session.cluster !== null) return { runs: await clusterRuns(session.cluster, session), file: null };
  await acceptedStateFile(session);
  return { runs: null, file: await projectStateFile(session) };
}

/** The engine that the graphs import themselves, where they do: `recordCalls()` belongs to it. */
async function engineFor(folder: string): Promise<MakeDurable> {
  const own = resolvedFrom('@devs/core/langgraph', folder);
  const engine: unknown = own === null ? await import('./engine.ts') : await import(pathToFileURL(own).href);
  return (engine as { readonly durable: MakeDurable }).durable;
}

/** @throws DevsError `CONFIG_INVALID` */
async function loadGraph({ id, file, exportName }: NamedGraph): Promise<Source> {
  const found: unknown = await exportOf(await importGraphModule(file), exportName);
  if (found === undefined)
    throw usageError(
      `${file} has no export ${exportName}; the graph ${id} names it.`,
      `Export it, or change the name in ${path.basename(file)}:${exportName}.`,
    );
  if (typeof found !== 'function') return found as Source;
  try {
    return (await (found as (config: object) => unknown)({ configurable: {} })) as Source;
  } catch (error) {
    const remedy =
      'The server calls it once, with { configurable: {} }. Read what a run needs from the config of its nodes.';
    throw usageError(`The factory of the graph ${id} failed: ${(error as Error).message}`, remedy, error);
  }
}

/** @throws DevsError `CONFIG_INVALID` for a value that is not a supported graph. */
function made(id: string, make: () => unknown): ServedApp {
  try {
    return make() as ServedApp;
  } catch (error) {
    if (!(error instanceof TypeError || error instanceof RangeError)) throw error;
    throw usageError(
      `The graph ${id} cannot be served: ${error.message}`,
      'Export a StateGraph, compiled or not, an agent of createAgent, an entrypoint, or a function that returns one.',
      error,
    );
  }
}

/** Whether its author compiled it with a store. */
function hasStore(source: unknown): boolean {
  const { store, graph } = Object(source) as {
    readonly store?: unknown;
    readonly graph?: { readonly store?: unknown };
  };
  return (store ?? graph?.store ?? null) !== null;
}
