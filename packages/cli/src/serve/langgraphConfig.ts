import { existsSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { parseEnv } from 'node:util';
import { z } from 'zod';
import { usageError } from '../usageError.ts';

export const LANGGRAPH_JSON = 'langgraph.json';

/** A graph as `langgraph.json` names it. */
export interface NamedGraph {
  /** The assistant. */
  readonly id: string;
  /** Absolute. */
  readonly file: string;
  readonly exportName: string;
}

/** A webhook as `langgraph.json` names it. */
export type NamedWebhook = z.infer<typeof WebhookShape>;

export interface LanggraphConfig {
  /** Absolute; paths in the file start here. */
  readonly folder: string;
  readonly graphs: readonly NamedGraph[];
  /** Webhooks of every graph. A value that begins with `$` is the name of a variable. */
  readonly webhooks: Readonly<Record<string, NamedWebhook>>;
  /** Whether spans of every graph are exported. */
  readonly telemetry: boolean;
  /** Variables for the graphs; those that the process has already win. */
  readonly env: Readonly<Record<string, string>>;
  /** Members that are not used, for people. */
  readonly notTaken: readonly string[];
}

const GraphPath = z
  .string()
  .regex(
    /^[^:]+:[^:]+$|^[A-Za-z]:[\\/][^:]*:[^:]+$/,
    'must be a file and an export, such as "./src/agent.ts:graph"',
  );

const WebhookShape = z.strictObject({
  url: z.string(),
  secret: z.string(),
  events: z.array(z.string()).optional(),
});

const Config = z.looseObject({
  graphs: z.record(
    z.string(),
    z.union([GraphPath, z.looseObject({ path: GraphPath })], {
      error: 'must be a file and an export, such as "./src/agent.ts:graph"',
    }),
  ),
  env: z
    .union([z.string(), z.record(z.string(), z.string()), z.array(z.string())], {
      error: 'must be the path of a file, an object, or a list of names',
    })
    .default({}),
  store: z.looseObject({ index: z.unknown() }).partial().optional(),
  devs: z
    .strictObject({
      webhooks: z.record(z.string(), WebhookShape).default({}),
      telemetry: z.boolean().default(false),
    })
    .optional(),
});

/** Members about the image and its Node.js, which this command does not build. */
const OF_IMAGES = new Set([
  '$schema',
  '_INTERNAL_docker_tag',
  'api_version',
  'base_image',
  'dependencies',
  'docker_compose_file',
  'dockerfile_lines',
  'image_distro',
  'keep_pkg_tools',
  'node_version',
  'pip_config_file',
  'pip_installer',
  'python_version',
]);
const TAKEN = new Set(['devs', 'graphs', 'env', 'store', ...OF_IMAGES]);

const PYTHON = /\.py[xdi]?$/;
const APP_NAME = /^[A-Za-z0-9_-]{1,40}$/;

/**
 * Reads a `langgraph.json`.
 *
 * @param file - Absolute.
 * @throws DevsError `CONFIG_INVALID` for a file that cannot be read, has another shape, or lacks a graph in JavaScript or
 *   TypeScript.
 */
export function readLanggraphConfig(file: string): LanggraphConfig {
  const given = parsed(file);
  const folder = path.dirname(file);
  const all = Object.entries(given.graphs).map(([id, named]) => toGraph(id, named, folder));
  const graphs = all.filter((graph) => !PYTHON.test(graph.file));
  const odd = graphs.find(({ id }) => !APP_NAME.test(id));
  if (odd !== undefined)
    throw usageError(
      `${JSON.stringify(odd.id)} in ${file} cannot be the name of a graph.`,
      'Use at most 40 of A-Z, a-z, 0-9, _ and -.',
    );
  if (graphs.length === 0)
    throw usageError(
      `${file} names no graph in JavaScript or TypeScript.`,
      'Add one, such as "graphs": { "agent": "./agent.ts:graph" }.',
    );
  const python = all.filter((graph) => PYTHON.test(graph.file)).map(({ id }) => `the Python graph ${id}`);
  const others = Object.keys(given).filter((name) => !TAKEN.has(name));
  const index = given.store?.index === undefined ? [] : ['store.index'];
  const notTaken = [...others, ...index, ...python];
  const { webhooks = {}, telemetry = false } = given.devs ?? {};
  return { folder, graphs, webhooks, telemetry, env: envOf(given.env, folder), notTaken };
}

function toGraph(id: string, named: string | { readonly path: string }, folder: string): NamedGraph {
  const text = typeof named === 'string' ? named : named.path;
  const at = text.lastIndexOf(':');
  return { id, file: path.resolve(folder, text.slice(0, at)), exportName: text.slice(at + 1) };
}

function parsed(file: string): z.infer<typeof Config> {
  let json: unknown;
  try {
    json = JSON.parse(readFileSync(file, 'utf8'));
  } catch (error) {
    throw usageError(`${file} cannot be read: ${(error as Error).message}`, 'Repair the file.', error);
  }
  const found = Config.safeParse(json);
  if (found.success) return found.data;
  throw usageError(`${file} is invalid:\n${z.prettifyError(found.error)}`, 'Repair the file.', found.error);
}

/** @throws DevsError `CONFIG_INVALID` for a missing file, and for a listed name without a value. */
function envOf(env: z.infer<typeof Config>['env'], folder: string): Readonly<Record<string, string>> {
  if (typeof env === 'string') return envFile(path.resolve(folder, env));
  if (!Array.isArray(env)) return env;
  const missing = env.filter((name) => process.env[name] === undefined);
  if (missing.length === 0) return {};
  throw usageError(
    `These variables have no value: ${missing.join(', ')}.`,
    `Set them; ${LANGGRAPH_JSON} lists them in env.`,
  );
}

function envFile(file: string): Readonly<Record<string, string>> {
  if (!existsSync(file))
    throw usageError(
      `${file} does not exist; env in ${LANGGRAPH_JSON} names it.`,
      'Create it, for example as a copy of .env.example.',
    );
  return parseEnv(readFileSync(file, 'utf8')) as Readonly<Record<string, string>>;
}

/** Gives the graphs their variables, as Node's `--env-file` does. */
export function setVariables(env: Readonly<Record<string, string>>): void {
  for (const [name, value] of Object.entries(env)) process.env[name] ??= value;
}
