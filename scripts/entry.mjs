// What run-brief, resume-thread and story share: arguments, the engine, safe output, errors as `devs` prints them.
import { existsSync } from 'node:fs';
import { createRequire } from 'node:module';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';

/** Exit codes of `devs`: 75 means that the run can go on. */
const EXIT_CODES = { completed: 0, waiting: 75, paused: 75, created: 75, running: 75 };

/** Checks the arguments, loads the engine and calls `work(core, ...args)`, which may return an exit code. */
export async function entry({ usage, count }, work) {
  const args = process.argv.slice(2);
  const wantsHelp = args.includes('--help');
  if (wantsHelp || args.length !== count) {
    (wantsHelp ? process.stdout : process.stderr).write(usage);
    process.exitCode = wantsHelp ? 0 : 2;
    return;
  }
  const core = await loadCore();
  try {
    process.exitCode = (await work(core, ...args)) ?? 0;
  } catch (error) {
    const { code, message, remedy } = error;
    const lines = core.isDevsError(error) ? [`${code}: ${message}`, `  → ${remedy}`] : [message];
    for (const line of lines) process.stderr.write(`${shown(core, line)}\n`);
    process.exitCode = 1;
  }
}

/** Resolved as by a consumer: the build, or the sources under `--conditions=@devs/source`. */
async function loadCore() {
  const { resolve } = createRequire(new URL('../packages/core/package.json', import.meta.url));
  const file = resolve('@devs/core');
  if (!existsSync(file)) throw new Error('Not built yet. Run: npx --yes pnpm@10.34.9 build');
  return import(pathToFileURL(file).href);
}

/** Opens a project folder that has runs. Looking for one must not create a state file. */
export async function openProject({ Orchestrator, DevsError }, folder, options = {}) {
  const dir = join(folder, '.devs');
  if (existsSync(join(dir, 'state.sqlite'))) return Orchestrator.open({ dir, ...options });
  const remedy = 'Name the folder that holds .devs, or start a run there first.';
  throw new DevsError(`There are no runs in ${folder}.`, { code: 'THREAD_NOT_FOUND', remedy });
}

/** Text of a run as it may be shown: secrets masked, control characters spelled out. */
export function shown({ maskSensitiveData }, text) {
  const spelledOut = (char) => `\\u{${char.codePointAt(0).toString(16)}}`;
  return maskSensitiveData(text).replaceAll(/[\p{Cc}\p{Cf}]/gu, spelledOut);
}

/** One event of a run's story on one line. */
export function eventLine(core, { at, taskId, name, payload }) {
  const [task = ''] = /(?<=:)\d+$/.exec(taskId ?? '') ?? [];
  // Each text by itself: beside its key, the id of a session looks like a secret.
  const json = JSON.stringify(payload, (_, value) =>
    typeof value === 'string' ? shown(core, value) : value,
  );
  return [at, task === '' ? '   ' : `T${task}`.padEnd(3), name.padEnd(23), json].join('  ');
}

/** Says how a drive ended and returns the exit code for it. */
export function reportEnd(core, id, { status, reason, gates }) {
  console.log(shown(core, `${id}: ${status}${reason === null ? '' : `, ${reason}`}`));
  for (const { kind, sessionId } of gates) console.log(`  waits for a human: ${kind} ${sessionId}`);
  return EXIT_CODES[status] ?? 1;
}
