// The kinds of attack that `pnpm rig:hostile` makes: the tests that make them, and the numbers that make them longer.
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

const root = fileURLToPath(new URL('..', import.meta.url));

const AGENTS = 'packages/agents/src/workspace/__tests__';
const SAVER = 'packages/core/src/engine/saver/__tests__';

/** How long the short forms of all kinds take, on two processors that do nothing else. */
const SHORT_FORMS_MINUTES = 6;

/**
 * The quick ones first. `files` are whole paths of test files; `titles` restricts one to what attacks, where it has
 * other tests beside, and is compared with the names of suites and test. `env` are numbers that these files read.
 */
export const KINDS = [
  {
    name: 'paths',
    what: 'paths that lead out of the folder or beside the tree',
    files: [
      { path: `${AGENTS}/pathJail.test.ts`, titles: /refuses |never resolves/ },
      { path: `${AGENTS}/assertTracked.test.ts`, titles: /refuses |holds what it takes/ },
      {
        path: 'packages/cli/test/existingRepository.test.ts',
        titles: /out of it by links|bring runs with it/,
      },
    ],
  },
  {
    name: 'messages',
    what: 'malformed messages, hostile texts as ids and filters',
    files: [
      {
        path: 'packages/mcp/test/OrchestratorServer.test.ts',
        titles: /lists only what reads|malformed messages/,
      },
      { path: `${SAVER}/hostileArguments.test.ts` },
      { path: 'packages/mcp/src/__tests__/MaskedStdioTransport.test.ts', titles: /64 MiB/ },
      { path: 'packages/cli/src/__tests__/stopSignals.test.ts', titles: /SIGTERM/ },
    ],
  },
  {
    name: 'agent-server',
    what: 'strangers, foreign pages and messages at the agent server',
    files: [
      { path: 'packages/server/test/hostile.test.ts' },
      { path: 'packages/server/test/nothingPasses.test.ts' },
      {
        path: 'packages/server/test/questions.traces.test.ts',
        titles: /takes one of two|no late no|a yes to the old one|not answered by a message/,
      },
    ],
    env: ['DEVS_GATE_SEQUENCES', 'DEVS_OPEN_STREAMS'],
  },
  {
    name: 'page',
    what: 'strangers, foreign pages and two who press at the page',
    files: [
      { path: 'packages/ui/test/refusals.test.ts', titles: /refuses all of these|no request/ },
      { path: 'packages/ui/test/drive.test.ts', titles: /was not let|both press|another process/ },
    ],
  },
  {
    name: 'people',
    what: 'one person under several spellings, and decisions on gates of other runs',
    files: [
      { path: 'packages/core/src/engine/gates/__tests__/people.test.ts', titles: /is not named|one person/ },
      { path: 'packages/core/test/gates/votes.test.ts', titles: /two spellings/ },
      {
        path: 'packages/core/src/surface/__tests__/comments.test.ts',
        titles: /of another run|nobody sees/,
      },
      { path: 'packages/ui/test/gateApi.test.ts', titles: /of another run/ },
    ],
  },
  {
    name: 'invisible',
    what: 'characters that are not seen, or move what is',
    files: [
      {
        path: 'packages/cli/src/terminal/__tests__/visibleText.test.ts',
        titles: /spells out|never the same|same JSON/,
      },
      { path: 'packages/cli/src/terminal/__tests__/paint.test.ts', titles: /brings no code/ },
    ],
    env: ['DEVS_VISIBLE_TEXTS'],
  },
  {
    name: 'usage',
    what: 'figures of usage that no call can have',
    files: [
      { path: 'packages/core/src/engine/guards/__tests__/usage.test.ts', titles: /is refused|never lowers/ },
    ],
    env: ['DEVS_USAGE_CASES'],
  },
  {
    name: 'commits',
    what: 'forged trailers and lines in commit messages',
    files: [
      { path: `${AGENTS}/GitWorkspace.test.ts`, titles: /no trailer but its own|mentions a key/ },
      { path: 'packages/core/src/orchestration/__tests__/evidence.test.ts', titles: /stay on their lines/ },
    ],
  },
  {
    name: 'clock',
    what: 'a clock that is set back',
    files: [
      { path: 'packages/core/src/engine/__tests__/clockSteps.test.ts' },
      { path: `${SAVER}/fileFaults.test.ts`, titles: /a clock that steps/ },
    ],
  },
  {
    name: 'gates',
    what: 'ways past a gate; late, stale, void answers; lookalikes',
    files: [
      { path: 'packages/core/test/gates/bypasses.test.ts' },
      { path: 'packages/core/test/gates/borrowedLease.test.ts' },
      { path: 'packages/core/test/gates/changedSinceShown.test.ts' },
      {
        path: 'packages/core/src/orchestration/__tests__/hitl.test.ts',
        titles: /stays open|two answers at once/,
      },
    ],
  },
  {
    name: 'hidden',
    what: 'commands behind what masks hide, at gates',
    files: [
      {
        path: 'packages/core/test/gates/hiddenAtGate.own.test.ts',
        titles: /none of it run|ordinary yes|never a value/,
      },
      {
        path: 'packages/core/src/masking/__tests__/maskAtGate.test.ts',
        titles: /is hidden with its length|no shape has|nothing but such tokens|is all of/,
      },
      { path: 'packages/cli/test/hiddenAtGate.own.test.ts', titles: /every view|ordinary yes/ },
    ],
  },
  {
    name: 'secrets',
    what: 'secrets in texts, messages, streams',
    files: [
      { path: 'packages/core/test/masking/heldOut.test.ts' },
      { path: 'packages/core/test/masking/canaries.traces.test.ts', titles: /are not in the state file/ },
      { path: 'packages/cli/test/canaries.test.ts' },
      { path: 'packages/cli/test/plantedSecrets.own.test.ts' },
      { path: 'packages/core/test/encryption/encryptionKey.traces.test.ts' },
    ],
    env: ['DEVS_MASK_TEXTS'],
  },
  {
    name: 'environment',
    what: "secrets of the engine's environment, in each command",
    files: [{ path: 'packages/agents/test/environment/environment.traces.test.ts' }],
  },
  {
    name: 'trust',
    what: 'configurations that nobody has accepted',
    files: [
      { path: 'packages/cli/test/trust.test.ts', titles: /has not accepted|does not believe/ },
      { path: 'packages/cli/src/config/__tests__/TrustStore.test.ts' },
    ],
  },
  {
    name: 'planted',
    what: 'triggers, views, indexes, altered tables in a state file',
    files: [
      { path: 'packages/core/src/db/__tests__/assertOwnSchema.test.ts', titles: /is refused/ },
      { path: 'packages/core/test/gates/plantedAnswers.test.ts', titles: /is refused|is not taken up/ },
      {
        path: 'packages/cli/test/foreignStateFile.test.ts',
        titles: /is not driven|for that one command|is refused|is not believed/,
      },
    ],
  },
  {
    name: 'git',
    what: 'programs that a repository names for git to start',
    files: [
      { path: `${AGENTS}/gitVectors.test.ts`, titles: /is never run/ },
      {
        path: `${AGENTS}/userRepositoryVectors.test.ts`,
        titles: /names is run|are not fetched|asks the helper/,
      },
      { path: 'packages/cli/test/hostileRepository.test.ts', titles: /starts no program/ },
      { path: `${AGENTS}/GitWorkspace.test.ts`, titles: /a hostile workspace/ },
    ],
  },
  {
    name: 'cluster',
    what: "another graph's runs, forged bases and changes, options that lead elsewhere",
    files: [
      { path: 'packages/core/src/engine/remote/__tests__/runsCases.test.ts' },
      { path: 'packages/postgres/src/__tests__/RunFiles.own.test.ts' },
      { path: 'packages/postgres/src/__tests__/options.test.ts', titles: /would take for/ },
    ],
  },
  {
    name: 'beside-tree',
    what: 'what lies beside the tree and turns checks green',
    files: [
      { path: `${AGENTS}/outsideTheTree.test.ts`, titles: /does not come from|was touched|fresh clone/ },
      { path: 'packages/agents/test/checks/outsideTheTree.test.ts' },
    ],
    env: ['DEVS_FRESH_CLONES'],
  },
  {
    name: 'forge',
    what: 'forged rows, decisions, policies, files',
    files: [
      { path: 'packages/agents/test/forge/forge.test.ts' },
      { path: 'packages/core/test/gates/forgedDecisions.test.ts', titles: /is found/ },
      { path: 'packages/core/src/state/__tests__/DecisionLog.test.ts', titles: /, in a log|cannot be/ },
    ],
  },
  {
    name: 'sandbox',
    what: 'ways out of the sandbox',
    rig: ['escapes', 'gates', 'survivors', 'flood'],
  },
  {
    name: 'bit-flips',
    what: 'bits that flip in stored values, rows and keys',
    files: [{ path: 'packages/core/test/db/bitFlips.test.ts' }],
    env: ['DEVS_BIT_FLIPS'],
  },
  {
    name: 'rows',
    what: 'rows that are deleted, keys of rows that are swapped',
    files: [
      { path: 'packages/core/test/state/rowFaults/rowFaults.test.ts' },
      { path: `${SAVER}/missingRows.test.ts`, titles: /, is refused/ },
    ],
    env: ['DEVS_ROW_FAULTS'],
  },
  {
    name: 'power',
    what: 'truncated logs and files, images of a lost power',
    files: [
      { path: 'packages/core/src/db/__tests__/copyInMemory.test.ts', titles: /last commit that is whole/ },
      {
        path: 'packages/core/src/state/__tests__/immediateTransaction.test.ts',
        titles: /is not acknowledged|truncated/,
      },
      { path: 'packages/core/src/db/__tests__/fileIdentity.test.ts', titles: /a state file that is/ },
      { path: 'packages/core/test/db/reopenAfterKill.test.ts' },
    ],
  },
  {
    name: 'disks',
    what: 'full and read-only disks, files of something else',
    files: [
      { path: 'packages/cli/test/badDisks.test.ts' },
      { path: 'packages/core/test/crash/fullDisk.test.ts' },
      { path: `${SAVER}/fileFaults.test.ts`, titles: /a full file|was deleted/ },
    ],
    env: ['DEVS_DISK_COMMANDS'],
  },
  {
    name: 'faults',
    what: 'statements and commits that fail',
    files: [
      { path: 'packages/core/test/state/everyStatementFails.test.ts' },
      { path: 'packages/core/test/state/failedCommits.test.ts' },
      { path: `${SAVER}/fileFaults.test.ts`, titles: /a failed commit/ },
    ],
    env: ['DEVS_FAULTS_EVERY', 'DEVS_FAILED_COMMITS'],
  },
  {
    name: 'busy',
    what: 'a file that others hold while calls are made and decisions come in',
    files: [
      { path: 'packages/core/src/db/__tests__/busy.test.ts' },
      { path: 'packages/core/src/engine/node/__tests__/busyFile.test.ts' },
      { path: 'packages/core/test/drive/manyDrivers.test.ts' },
    ],
    env: ['DEVS_DRIVERS', 'DEVS_DRIVER_RUNS'],
  },
  {
    name: 'races',
    what: 'decisions, claims and wakes at the same moment',
    files: [
      { path: 'packages/core/test/db/races.test.ts' },
      { path: 'packages/core/test/drive/racingDrivers.test.ts', titles: /two processes/ },
      { path: 'packages/core/test/drive/wakes.test.ts' },
    ],
    env: ['DEVS_WAKES_EVERY', 'DEVS_WAKE_RACES'],
  },
  {
    name: 'frozen',
    what: 'a driver that was frozen, replaced, and wakes',
    files: [
      { path: 'packages/agents/test/takeover/frozenDriver.test.ts' },
      { path: 'packages/core/test/drive/racingDrivers.test.ts', titles: /was stopped/ },
    ],
  },
  {
    name: 'deaths',
    what: 'a death at a write or a statement',
    files: [
      { path: 'packages/core/test/crash/diesAtWrites.test.ts' },
      { path: 'packages/core/test/state/killedBetweenStatements.test.ts' },
      { path: 'packages/core/test/crash/randomGraphs.test.ts' },
      { path: 'packages/core/src/engine/__tests__/breakpoints.test.ts', titles: /never goes on before/ },
    ],
    env: ['DEVS_LIFE_DEATHS', 'DEVS_KILLED_GRAPHS', 'DEVS_STOPS_EVERY'],
  },
  {
    name: 'poison',
    what: 'runs that end every process that drives them',
    files: [
      { path: 'packages/core/test/drive/poison.test.ts' },
      { path: 'packages/postgres/test/deaths/poison.test.ts' },
      { path: 'packages/postgres/test/chaos/poison.test.ts' },
    ],
    env: ['DEVS_CLUSTER_POISONS'],
  },
  {
    name: 'programs',
    what: 'programs killed with -9: writers, migrations, graphs',
    files: [
      { path: 'packages/core/test/state/killedWriter.test.ts' },
      { path: 'packages/core/test/db/killedMigration.test.ts' },
      { path: 'packages/core/test/crash/killed.test.ts' },
      { path: 'packages/core/test/crash/programs.test.ts', titles: /killed after one of its calls/ },
      { path: 'packages/core/test/crash/graphExamples.test.ts', titles: /killed after a call/ },
      { path: 'packages/agents/test/rewind/killedRewind.test.ts' },
    ],
    env: [
      'DEVS_KILLS',
      'DEVS_MIGRATION_DEATHS_EVERY',
      'DEVS_LIFE_KILLS',
      'DEVS_PROGRAM_KILLS',
      'DEVS_GRAPH_KILLS',
      'DEVS_REWIND_KILLS',
    ],
  },
  {
    name: 'drivers',
    what: 'drivers of whole runs killed with -9 at random',
    files: [
      { path: 'packages/agents/test/chaos/chaos.test.ts' },
      { path: 'packages/agents/test/chaos/humans.test.ts' },
      { path: 'packages/agents/test/chaos/reviews.test.ts' },
      { path: 'packages/agents/test/crash/killedDemo.test.ts', titles: /after call/ },
      { path: 'packages/cli/test/chaos.test.ts' },
    ],
    env: ['CHAOS_KILLS', 'CHAOS_HUMANS', 'CHAOS_REVIEWS', 'DEVS_DEMO_KILLS'],
  },
];

/** What the short form takes, as the test says it. */
function usualOf(name, files) {
  for (const { path } of files) {
    const [, usual] =
      new RegExp(`howMany\\('${name}', ([\\d_]+)\\)`).exec(readFileSync(join(root, path), 'utf8')) ?? [];
    if (usual !== undefined) return Number(usual.replaceAll('_', ''));
  }
  throw new Error(`No test of this kind reads ${name}.`);
}

/** What a kind's variables are set to, so that all kinds take about so long; at least what the short form takes. */
export function sizesOf({ files = [], env = [] }, minutes) {
  const factor = Math.max(1, minutes / SHORT_FORMS_MINUTES);
  const sizes = env.map((name) => {
    const usual = usualOf(name, files);
    // One in so many: the larger the number, the fewer are tried.
    return [
      name,
      name.endsWith('_EVERY') ? Math.max(1, Math.round(usual / factor)) : Math.round(usual * factor),
    ];
  });
  // Where the short form is enough, its test chooses what belongs to it.
  return factor === 1 ? {} : Object.fromEntries(sizes);
}
