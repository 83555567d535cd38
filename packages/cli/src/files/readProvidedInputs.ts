import { existsSync } from 'node:fs';
import path from 'node:path';
import { planShape } from '@devs/agents/internal';
import type { DraftDocument, PlanResult, StartOptions } from '@devs/core';
import type { Command } from 'commander';
import { parse } from 'yaml';
import { z } from 'zod';
import type { ProjectConfig } from '../config/ProjectConfig.ts';
import { collectValues } from '../flags/optionValues.ts';
import type { Io } from '../terminal/Io.ts';
import { usageError } from '../usageError.ts';
import { decodeUtf8Text, readHanded } from './readHanded.ts';

/** Where the words of a brief come from. */
export interface BriefSource {
  /** A file, or `-` for stdin. */
  readonly name?: string | undefined;
  /** The words themselves. */
  readonly message?: string | undefined;
  /** A `name` that is a sentence and no file stands for itself. @defaultValue false */
  readonly mayBeWords?: boolean;
}

/**
 * Reads a brief from a file, from stdin for `-`, or takes the words as they are.
 *
 * @throws DevsError `CONFIG_INVALID` when there is none or two, or it cannot be read or is no text.
 */
export async function readBrief(
  { name, message, mayBeWords = false }: BriefSource,
  { cwd, stdin }: Pick<Io, 'cwd' | 'stdin'>,
): Promise<string> {
  if ((name === undefined) === (message === undefined)) {
    throw usageError(
      name === undefined ? 'The brief is missing.' : 'The brief is given twice: as a file and as --message.',
      "Name a Markdown file, use - for stdin, or write the brief with -m 'text'.",
    );
  }
  if (name === undefined) return message as string;
  if (mayBeWords && /\s/.test(name.trim()) && !existsSync(path.resolve(cwd, name))) return name;
  try {
    if (name === '-') return decodeUtf8Text(await readAll(stdin));
    return decodeUtf8Text(await readHanded(path.resolve(cwd, name)));
  } catch (error) {
    throw usageError(
      `Cannot read the brief ${name}: ${(error as Error).message}`,
      "Name a Markdown file, use - for stdin, or write the brief with -m 'text'.",
      error,
    );
  }
}

async function readAll(stdin: Io['stdin']): Promise<Buffer> {
  const chunks: Buffer[] = [];
  for await (const chunk of stdin) chunks.push(Buffer.from(chunk as Uint8Array));
  return Buffer.concat(chunks);
}

/** Inputs that `devs run` takes instead of asking an agent. */
export interface GivenFlags {
  /** `FILE` or `TYPE=FILE`. */
  readonly documents?: readonly string[];
  readonly plan?: string;
  /** False for a design that is made from the brief alone. */
  readonly research?: boolean;
}

export function addGivenOptions(command: Command): Command {
  return command
    .option(
      '--documents <file>',
      'your own PRD.md, TAS.md, … (repeatable); the run starts at the design gate; TYPE=FILE sets the type',
      collectValues,
    )
    .option('--no-research', 'design from the brief alone; recorded with the run')
    .option(
      '--plan <file>',
      'your own requirements, epics and tasks, as JSON or YAML; the run starts at the plan gate',
    );
}

/** @throws DevsError `CONFIG_INVALID` when a file cannot be read, or the plan has another form. */
export async function readProvidedInputs(
  { documents = [], plan, ...flags }: GivenFlags,
  { io: { cwd }, config }: { readonly io: Pick<Io, 'cwd'>; readonly config: Pick<ProjectConfig, 'research'> },
): Promise<Pick<StartOptions, 'documents' | 'tasks' | 'research'>> {
  const research = flags.research !== false && config.research;
  return {
    ...(documents.length > 0 && {
      documents: await Promise.all(documents.map((name) => readDocument(name, cwd))),
    }),
    ...(!research && { research }),
    ...(plan !== undefined && { tasks: await readPlan(plan, cwd) }),
  };
}

async function readDocument(name: string, cwd: string): Promise<DraftDocument> {
  const { type, file } = namedDocument(name);
  const content = await readTextFile(file, cwd);
  return { type, title: /^# +(.+)$/m.exec(content)?.[1]?.trim() ?? type, content };
}

/** `docs/ui-ux.md` is of type `UI_UX`; `TAS=docs/architecture.md` is of type `TAS`. */
function namedDocument(name: string): { readonly type: string; readonly file: string } {
  const named = /^([A-Z][A-Z0-9_]*)=(.+)$/.exec(name);
  if (named !== null) return { type: named[1] as string, file: named[2] as string };
  const type = path
    .parse(name)
    .name.toUpperCase()
    .replace(/[^A-Z0-9]+/g, '_')
    .replace(/^_+|_+$/g, '');
  return { type, file: name };
}

async function readPlan(name: string, cwd: string): Promise<PlanResult> {
  const parsed = planShape.safeParse(parsedYaml(await readTextFile(name, cwd), name));
  if (parsed.success) return parsed.data;
  throw notUsable(name, z.prettifyError(parsed.error), parsed.error);
}

/** JSON is YAML too. */
function parsedYaml(text: string, name: string): unknown {
  try {
    return parse(text);
  } catch (error) {
    throw notUsable(name, (error as Error).message, error);
  }
}

async function readTextFile(name: string, cwd: string): Promise<string> {
  try {
    return decodeUtf8Text(await readHanded(path.resolve(cwd, name)));
  } catch (error) {
    throw notUsable(name, (error as Error).message, error);
  }
}

function notUsable(name: string, why: string, cause: unknown) {
  const remedy =
    'Name a readable file. See docs/guide/the-pipeline.md for the format of documents and plans.';
  return usageError(`Cannot use ${name}: ${why}`, remedy, cause);
}
