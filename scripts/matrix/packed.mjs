// The packed packages on a machine that has never seen them: installed by npm without any script, and used.
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { run } from '../runProgram.mjs';
import { strangerTo } from './machines.mjs';

const KILLS = '20';

const demoOf = ({ root, sandbox }, dir) => [
  'run',
  join(root, 'examples/slugify/brief.md'),
  ...['--dir', dir, '--no-repository', '--id', 'slugify', '--yes'],
  ...['--agents', `replay:${join(root, 'examples/slugify/recording.jsonl')}`],
  ...sandbox,
];

async function threeCommits(dir) {
  const cwd = join(dir, '.devs-work', 'slugify');
  const subjects = (await run(['git', 'log', '--format=%s'], { cwd })).trim().split('\n');
  if (subjects.length !== 3) throw new Error(`3 commits expected, found ${subjects.join(', ')}`);
}

/**
 * @param given - `root`: where the examples are; `sandbox`: flags of `devs run` for this machine.
 * @returns checks, as `[name, work]`
 */
export function packedChecks({ machine, folder, registry, ...given }) {
  const at = (name) => join(folder, name);
  const env = strangerTo(machine.env, at('home'));
  const devs = join(at('prefix'), 'bin', 'devs');
  const npm = ['--registry', registry, '--cache', at('cache'), '--no-audit', '--no-fund'];
  const folderFor = (name) => {
    mkdirSync(at(name), { recursive: true });
    return at(name);
  };
  return [
    [
      `npm ${machine.npm} installs @devs/cli and @devs/mcp, without a script`,
      async () => {
        folderFor('home');
        const what = ['@devs/cli', '@devs/mcp'];
        const how = ['--global', '--prefix', folderFor('prefix'), '--ignore-scripts', ...npm];
        await run(['npm', 'install', ...what, ...how], { cwd: at('home'), env });
      },
    ],
    [
      'devs run --agents none',
      async () => {
        const cwd = folderFor('none');
        writeFileSync(join(cwd, 'brief.md'), '# Nothing\n\nWalk through the stages.\n');
        await run([devs, 'run', 'brief.md', '--id', 'walk', '--agents', 'none', '--yes'], { cwd, env });
        await run([devs, 'status', 'walk'], { cwd, env });
      },
    ],
    [
      'the demo, three commits',
      async () => {
        await run([devs, ...demoOf(given, folderFor('demo'))], { cwd: at('home'), env });
        await threeCommits(at('demo'));
      },
    ],
    [
      `devs admin chaos --kills ${KILLS}`,
      () => run([devs, 'admin', 'chaos', '--kills', KILLS], { cwd: folderFor('chaos'), env }),
    ],
    [
      'npx @devs/cli, the demo again',
      async () => {
        const cwd = folderFor('npx');
        await run(['npx', '--yes', ...npm, '@devs/cli', ...demoOf(given, folderFor('npx-demo'))], {
          cwd,
          env,
        });
        await threeCommits(at('npx-demo'));
      },
    ],
  ];
}
