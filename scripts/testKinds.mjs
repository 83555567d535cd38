// Which kind of test a file is, by its path: the first row that fits.
const KINDS = [
  ['state files of releases', /\/statefiles\//],
  ['conformance', /\/conformance\/|[cC]onformance\.test/],
  ['chaos', /\/chaos\//],
  ['crash and kills', /\/crash\/|[kK]ill|failedCommits|reopenAfterKill/],
  ['races and drive', /\/drive\/|core\/test\/stream\/|\/races\.|openAtOnce|UnderReaders|UnderWriter/],
  ['gates', /core\/test\/(gates|asks)\//],
  ['guards and entropy', /core\/test\/(guards|entropy)\//],
  ['masking and secrets', /core\/test\/(masking|encryption)\/|canaries|agents\/test\/(environment|forge)\//],
  ['db and state', /core\/test\/(db|state)\/|\/src\/(.*\/)?(db|state|saver)\/.*__tests__\//],
  ['git and workspace', /\/workspace\/|agents\/test\/rewind\//],
  ['agents over HTTP', /agents\/test\/http\//],
  ['agents', /^packages\/agents\//],
  ['agent server', /^packages\/server\//],
  ['mcp', /^packages\/mcp\//],
  ['page for people', /^packages\/ui\//],
  ['runs in PostgreSQL', /^packages\/postgres\//],
  ['transcript', /cli\/test\/transcript\//],
  ['trial', /cli\/test\/trial\//],
  ['command line', /^packages\/cli\//],
  ['scripts', /core\/test\/(scripts|support|bench|guide)\//],
  [
    'engine',
    /core\/(src\/engine|test\/(runs|mistakes|keptExactly|maskedRuns|transfer|webhooks|telemetry))\//,
  ],
  ['pipeline', /\/(orchestration|orchestrator|surface|brief)\//],
  ['unit', /__tests__\/|core\/test\/[^/]+$/],
  ['other', /./],
];

/** @param path of a test file, from the root of the repository */
export function kindOf(path) {
  return KINDS.find(([, paths]) => paths.test(path))[0];
}

/** By kind, the costliest first. @param files `{ path, tests, seconds, processor }` of each test file */
export const byKind = (files) => grouped(files, 'kind', kindOf);

/** By package, the same way. */
export const byPackage = (files) => grouped(files, 'package', (path) => path.split('/')[1]);

function grouped(files, key, nameOf) {
  const total = files.reduce((sum, { seconds }) => sum + seconds, 0);
  const groups = new Map();
  for (const { path, tests, seconds, processor } of files) {
    const name = nameOf(path);
    const row = groups.get(name) ?? { [key]: name, files: 0, tests: 0, seconds: 0, processor: 0, share: 0 };
    row.files += 1;
    row.tests += tests;
    row.seconds += seconds;
    row.processor += processor;
    row.share = total === 0 ? 0 : row.seconds / total;
    groups.set(name, row);
  }
  return [...groups.values()].sort((a, b) => b.seconds - a.seconds);
}
