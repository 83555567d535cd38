import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import {
  type CheckpointSaverTestInitializer,
  deltaChannelHistoryTests,
  validate,
} from '@langchain/langgraph-checkpoint-validation';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it, test } from 'vitest';
import { createDatabase } from '../../src/db/createDatabase.ts';
import { SqliteSaver } from '../../src/engine/saver/SqliteSaver.ts';

// LangGraph's own suites, under a name that is on none of their skip lists. They take these as globals.
Object.assign(globalThis, { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it, test });

const folders = new Map<SqliteSaver, string>();

const initializer: CheckpointSaverTestInitializer<SqliteSaver> = {
  checkpointerName: '@devs/core/SqliteSaver',
  createCheckpointer: () => {
    const folder = mkdtempSync(join(tmpdir(), 'devs-conformance-'));
    const saver = new SqliteSaver(createDatabase({ dbPath: join(folder, 'state.sqlite') }));
    folders.set(saver, folder);
    return saver;
  },
  destroyCheckpointer: (saver) => {
    saver.close();
    const folder = folders.get(saver);
    if (folder !== undefined) rmSync(folder, { recursive: true });
    folders.delete(saver);
  },
};

validate(initializer);
deltaChannelHistoryTests(initializer);
