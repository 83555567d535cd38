import path from 'node:path';
import type { Database } from 'better-sqlite3';
import { STATE_FILE } from '../../config/defaults.ts';
import { createDatabase, openReadOnly } from '../../db/createDatabase.ts';
import { type EncryptionKey, refuseKey } from '../../db/encryptionKey.ts';
import { assertUpToDate } from '../../db/ledger.ts';
import { foreignSchema } from '../../db/ownSchema.ts';
import type { Runs } from '../../engine/runs/Runs.ts';
import { visibleText } from '../../masking/visibleText.ts';
import { PipelineApp, type PipelineAppOptions } from '../PipelineApp.ts';
import type { PipelineFile } from '../PipelineFiles.ts';
import type { PipelineHome } from './PipelineHome.ts';
import { RemoteHome } from './RemoteHome.ts';
import { StateFileHome } from './StateFileHome.ts';

/** Which runs an orchestrator is opened for. */
export interface HomeOptions {
  readonly dir?: string;
  readonly file?: string;
  readonly busyTimeoutMs?: number | undefined;
  readonly encryptionKey?: EncryptionKey | undefined;
  readonly readOnly?: boolean;
  readonly runs?: Runs;
}

/** @throws TypeError unless there is either a folder or `runs`; DevsError `CONFIG_INVALID` for `runs` with a key. */
export function homeOf(
  options: HomeOptions,
  about: Omit<PipelineAppOptions, 'db'>,
  deps: Omit<PipelineFile, 'app'>,
): PipelineHome {
  const { dir, runs } = options;
  if ((dir === undefined) === (runs === undefined)) throw new TypeError('Expected either `dir` or `runs`.');
  if (runs !== undefined) refuseKey(options.encryptionKey);
  if (runs !== undefined) return new RemoteHome(runs, about, deps);
  const folder = dir ?? '';
  const db = openPipelineFile(folder, options);
  return new StateFileHome({ ...deps, app: PipelineApp.open(deps.pipeline, { db, ...about }) }, folder);
}

function openPipelineFile(
  dir: string,
  { file = STATE_FILE, readOnly = false, busyTimeoutMs, encryptionKey }: HomeOptions,
): Database {
  const waits = busyTimeoutMs === undefined ? {} : { busyTimeoutMs };
  const at = { dbPath: path.join(dir, file), encryptionKey, ...waits };
  if (!readOnly) return createDatabase(at);
  const db = openReadOnly(at);
  try {
    assertUpToDate(db);
    tellForeign(db);
    return db;
  } catch (error) {
    db.close();
    throw error;
  }
}

const announcedHomes = new Set<string>();

/** Who only reads goes on: what is there may be looked at. Once a process and file. */
function tellForeign(db: Database): void {
  const foreign = announcedHomes.has(db.name) ? null : foreignSchema(db);
  if (foreign === null) return;
  announcedHomes.add(db.name);
  const text = `${foreign.message} ${foreign.remedy} The file was not changed.`;
  process.emitWarning(visibleText(text), 'DevsSchemaWarning');
}
