// Planted cases for `check-layers.mjs --self-test`: the rule that must find each one, null where none may.
const planted = (rule, path, text) => ({ rule, path: `packages/${path}`, text });

export const PLANTED = [
  planted('staysInPackage', 'agents/src/a.ts', "import { x } from '../../core/src/index.ts';"),
  planted('staysInPackage', 'cli/test/a.test.ts', "import { x } from '../../../scripts/test.mjs';"),
  planted('respectsLayers', 'core/src/state/A.ts', "import { g } from '../orchestration/graph.ts';"),
  planted('respectsLayers', 'core/src/errors/A.ts', "import type { T } from '../db/migrate.ts';"),
  planted(
    'respectsLayers',
    'core/src/orchestration/hitl/a.ts',
    "import { o } from '../../surface/Orchestrator.ts';",
  ),
  planted('respectsLayers', 'core/src/surface/a.ts', "import { o } from '../index.ts';"),
  planted('respectsLayers', 'core/src/state.ts', "export { g } from './orchestration/graph.ts';"),
  planted('usesDeclaredPackages', 'core/src/config/a.ts', "import _ from 'lodash';"),
  planted(
    'usesPackageExports',
    'agents/src/a.ts',
    "import { x } from '@devs/core/dist/state/ThreadStore.js';",
  ),
  planted('usesPackageExports', 'core/src/surface/a.ts', "import { x } from '@devs/core';"),
  planted('keepsLibrariesInPlace', 'core/src/state/A.ts', "import Database from 'better-sqlite3';"),
  planted('keepsLibrariesInPlace', 'core/src/state/A.ts', "import { type Database } from 'better-sqlite3';"),
  planted(
    'keepsLibrariesInPlace',
    'core/src/surface/a.ts',
    "import { Command } from '@langchain/langgraph';",
  ),
  planted(
    'keepsLibrariesInPlace',
    'core/src/surface/a.ts',
    "const l = await import('@langchain/langgraph');",
  ),
  planted('keepsSqlInPlace', 'core/src/orchestration/a.ts', "run('DELETE FROM threads');"),
  planted('keepsSqlInPlace', 'core/src/orchestration/a.ts', 'const q = `SELECT id\n  FROM threads`;'),
  planted('keepsSqlInPlace', 'cli/src/a.ts', 'db.prepare(text).run();'),
  planted('awaitsNothingInTransactions', 'core/src/state/A.ts', 'db.transaction(async () => {});'),
  planted('leavesTheStateFileAlone', 'cli/src/a.ts', "readFileSync(join(dir, 'state.sqlite'));"),
  planted(
    'adapterDoesNotRecurse',
    'core/src/orchestration/flatIterativeAdapter.ts',
    'export async function runGraphIteratively(graph) {\n  return await runGraphIteratively(graph);\n}',
  ),

  planted(null, 'core/src/orchestration/graph.ts', "import { StateGraph } from '@langchain/langgraph';"),
  planted(
    null,
    'core/src/state/A.ts',
    "import type { Database } from 'better-sqlite3';\ndb.prepare('SELECT 1 FROM t');",
  ),
  planted(null, 'core/src/db/createDatabase.ts', "import Database from 'better-sqlite3';"),
  planted(null, 'core/src/langgraph.ts', "export { step } from './orchestration/step.ts';"),
  planted(null, 'core/src/index.ts', "export { Orchestrator } from './surface/Orchestrator.ts';"),
  planted(null, 'core/src/surface/a.ts', "// import { x } from '../index.ts'\nconst m = /a/.exec(text);"),
  planted(
    null,
    'cli/src/a.ts',
    "import { Orchestrator } from '@devs/core';\nimport { join } from 'node:path';",
  ),
  planted(null, 'cli/src/a.ts', "print('Update the task, select it from the list');"),
  planted(
    null,
    'core/src/orchestration/flatIterativeAdapter.ts',
    'export async function runGraphIteratively(graph) {}\nexport const FlatIterativeAdapter = { run: runGraphIteratively };',
  ),
];
