import { fakeAgents } from '@devs/core/testing';
import type { UiOptions } from '../../src/createUi.ts';
import { openShop } from './fixtures.ts';

/** The files that fake agents write for a task, as a diff. */
const FILES: Readonly<Record<string, string>> = Object.fromEntries(
  [1, 2].flatMap((task) =>
    ['implement', 'test', 'document'].map((step) => [`${step}/${task}.txt`, `${step} of task ${task}`]),
  ),
);

const diffOf = (paths: readonly string[]): string =>
  paths
    .map(
      (path) =>
        `diff --git a/${path} b/${path}\nnew file mode 100644\n--- /dev/null\n+++ b/${path}\n@@ -0,0 +1,1 @@\n+${FILES[path]}\n`,
    )
    .join('');

/** A page that starts and executes runs, with agents that answer at once. */
export async function workingPage(dir: string): Promise<Partial<UiOptions>> {
  const devs = await openShop(dir, fakeAgents({ tasks: 2 }));
  /** Commits that a diff begins at: its files are not there yet. */
  const before = new Set<string>();
  return {
    drive: true,
    driving: async (id, stop) => (await devs.run(id)).resume(stop),
    starting: async (brief) => (await devs.start({ id: 'shop', brief, review: 'task' })).id,
    rewinding: async (id, work) => work(await devs.run(id)),
    readCode: async ({ artifact }) => {
      const { range } = artifact as {
        readonly range: { readonly from: string; readonly files: readonly { readonly path: string }[] };
      };
      before.add(range.from);
      return { diff: diffOf(range.files.map(({ path }) => path)), unshown: [] };
    },
    code: { readAt: async (_run, commit, path) => (before.has(commit) ? null : (FILES[path] ?? null)) },
  };
}
