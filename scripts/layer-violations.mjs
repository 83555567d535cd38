// Planted cases for `check-layers.mjs --self-test`: the rule that must find each one, null where none may.
const planted = (rule, path, text) => ({ rule, path: `packages/${path}`, text });

/** Put together here: nothing may be found in this file itself. */
const INTERNAL = '@devs/core/internal';

export const PLANTED = [
  planted('staysInPackage', 'agents/src/a.ts', "import { x } from '../../core/src/index.ts';"),
  planted('staysInPackage', 'cli/test/a.test.ts', "import { x } from '../../../scripts/test.mjs';"),
  planted('respectsLayers', 'core/src/state/A.ts', "import { g } from '../orchestration/graph.ts';"),
  planted('respectsLayers', 'core/src/errors/A.ts', "import type { T } from '../db/migrate.ts';"),
  planted(
    'respectsLayers',
    'core/src/orchestration/gates/a.ts',
    "import { o } from '../../surface/Orchestrator.ts';",
  ),
  planted('respectsLayers', 'core/src/engine/node/a.ts', "import { g } from '../../orchestration/graph.ts';"),
  planted('respectsLayers', 'core/src/langgraph.ts', "export { g } from './orchestration/graph.ts';"),
  planted('respectsLayers', 'core/src/surface/a.ts', "import { o } from '../index.ts';"),
  planted('respectsLayers', 'core/src/state.ts', "export { g } from './orchestration/graph.ts';"),
  planted('usesDeclaredPackages', 'core/src/config/a.ts', "import _ from 'lodash';"),
  planted(
    'usesPackageExports',
    'agents/src/a.ts',
    "import { x } from '@devs/core/dist/state/ThreadStore.js';",
  ),
  planted('usesPackageExports', 'core/src/surface/a.ts', "import { x } from '@devs/core';"),
  planted(
    'takesInternalsInSourcesOnly',
    'cli/src/render/__tests__/a.test.ts',
    `import { oneLine } from '${INTERNAL}';`,
  ),
  planted('takesInternalsInSourcesOnly', 'postgres/bench/a.ts', `await import('${INTERNAL}');`),
  {
    rule: 'takesInternalsInSourcesOnly',
    path: 'examples/service/a.ts',
    text: `import { oneLine } from '${INTERNAL}';`,
  },
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
  planted('keepsSqlInPlace', 'postgres/src/worker/Worker.ts', "run('DELETE FROM runs');"),
  planted(null, 'postgres/src/rows/RunRows.ts', "tables.transaction(async () => run('DELETE FROM runs'));"),
  planted('awaitsNothingInTransactions', 'postgres/src/held/HeldFile.ts', 'db.transaction(async () => {});'),
  planted('awaitsNothingInTransactions', 'core/src/state/A.ts', 'db.transaction(async () => {});'),
  planted('leavesTheStateFileAlone', 'cli/src/a.ts', "readFileSync(join(dir, 'state.sqlite'));"),
  planted(
    'adapterDoesNotRecurse',
    'core/src/engine/frames/flatIterativeAdapter.ts',
    'export async function runGraphIteratively(graph) {\n  return await runGraphIteratively(graph);\n}',
  ),

  planted(null, 'core/src/orchestration/graph.ts', "import { StateGraph } from '@langchain/langgraph';"),
  planted(
    null,
    'core/src/state/A.ts',
    "import type { Database } from 'better-sqlite3';\ndb.prepare('SELECT 1 FROM t');",
  ),
  planted(null, 'core/src/db/connect.ts', "import Database from 'better-sqlite3';"),
  planted(null, 'core/src/langgraph.ts', "export { step } from './engine/node/step.ts';"),
  planted(null, 'core/src/index.ts', "export { Orchestrator } from './surface/Orchestrator.ts';"),
  planted(null, 'core/src/surface/a.ts', "// import { x } from '../index.ts'\nconst m = /a/.exec(text);"),
  planted(
    null,
    'cli/src/a.ts',
    "import { Orchestrator } from '@devs/core';\nimport { join } from 'node:path';",
  ),
  planted(null, 'cli/src/a.ts', `import { oneLine } from '${INTERNAL}';`),
  planted(null, 'cli/src/a.ts', "print('Update the task, select it from the list');"),
  planted(
    null,
    'core/src/engine/frames/flatIterativeAdapter.ts',
    'export async function runGraphIteratively(graph) {}\nexport const FlatIterativeAdapter = { run: runGraphIteratively };',
  ),
];

const plantedHouse = (isCircle, sources) => ({
  isCircle,
  path: Object.keys(sources).join(', '),
  text: Object.values(sources).join(' '),
  sources: Object.entries(sources).map(([path, text]) => ({ path, text })),
});

/** Rooms of one layer, and whether they import each other in a circle. */
export const PLANTED_HOUSES = [
  plantedHouse(true, { 'a/x.ts': "import '../b/y.ts';", 'b/y.ts': "import type { X } from '../a/x.ts';" }),
  plantedHouse(true, {
    'a/x.ts': "import '../b/y.ts';",
    'b/y.ts': "import '../c.ts';",
    'c.ts': "export * from './a/x.ts';",
  }),
  plantedHouse(false, { 'a/x.ts': "import './y.ts';", 'a/y.ts': "import './x.ts';" }),
  plantedHouse(false, { 'a/x.ts': "import '../b/y.ts';", 'b/y.ts': "// import '../a/x.ts'" }),
];

/** Files, and whether some of them import each other in a circle. */
export const PLANTED_CIRCLES = [
  plantedHouse(true, { 'a.ts': "import { b } from './b.ts';", 'b.ts': "import { a } from './a.ts';" }),
  plantedHouse(true, {
    'a/x.ts': "import type { Y } from '../y.ts';",
    'y.ts': "export { z } from './z.ts';",
    'z.ts': "import type { X } from './a/x.ts';",
  }),
  plantedHouse(true, {
    'start.ts': "import './a.ts';",
    'a.ts': "import './b.tsx';",
    'b.tsx': "import './end.ts'; export * from './a.ts';",
    'end.ts': '',
  }),
  plantedHouse(true, { 'a.ts': "import './b.ts';", 'b.ts': "export type Of = import('./a.ts').A;" }),
  plantedHouse(true, { 'a.ts': "import './a.ts';" }),
  plantedHouse(false, {
    'a.ts': "import './b.ts'; import './c.ts';",
    'b.ts': "import './c.ts';",
    'c.ts': "import 'node:fs';",
  }),
  plantedHouse(false, { 'a.ts': "import './b.ts';", 'b.ts': "const { a } = await import('./a.ts');" }),
  plantedHouse(false, { 'a.ts': "import './b.ts';", 'b.ts': "void import('./a.ts').then(({ a }) => a());" }),
  plantedHouse(false, { 'a.ts': "import './b.ts';", 'b.ts': "// import './a.ts';" }),
];
