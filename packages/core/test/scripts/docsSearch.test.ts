import { readdirSync, readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { expect, test } from 'vitest';

const DOCS = fileURLToPath(new URL('../../../../docs', import.meta.url));

/** A heading of a page with the text up to the next one. */
interface Section {
  readonly page: string;
  readonly heading: string;
  readonly words: ReadonlySet<string>;
  readonly headingWords: ReadonlySet<string>;
}

const IGNORED = new Set('a an the of on in to for from with and or is my your i how do'.split(' '));

const wordsOf = (text: string): ReadonlySet<string> =>
  new Set(
    text
      .toLowerCase()
      .split(/[^\p{L}\p{N}]+/u)
      .filter((word) => word !== '' && !IGNORED.has(word)),
  );

function sectionsOf(page: string): readonly Section[] {
  const text = readFileSync(`${DOCS}/${page}`, 'utf8');
  // A `#` inside a code block starts a comment, not a heading.
  const [, ...parts] = text
    .replaceAll(/^```[\s\S]*?^```/gm, (block) => block.replaceAll(/^#/gm, ' #'))
    .split(/^#+ /m);
  return parts.map((part) => {
    const [heading = ''] = part.split('\n', 1);
    return { page, heading, words: wordsOf(part), headingWords: wordsOf(heading) };
  });
}

/** The pages of the shelf in the order of docs/README.md, which lists all of them. */
function shelf(name: 'guide' | 'reference'): readonly string[] {
  const index = readFileSync(`${DOCS}/README.md`, 'utf8');
  const listed = [...index.matchAll(new RegExp(`\\((${name}/[\\w-]+\\.md)\\)`, 'g'))].map(
    ([, page = '']) => page,
  );
  return [...new Set(listed)];
}

const SECTIONS = [...shelf('guide'), ...shelf('reference')].flatMap(sectionsOf);

/** A word of the phrase finds the words that begin with it, such as `run` and `runs`. */
const has = (words: ReadonlySet<string>, wanted: string): boolean =>
  [...words].some((word) => word.startsWith(wanted));

/**
 * The search of a person: sections that have all words of the phrase, those with more of them in the heading first, then in the
 * order of the index.
 */
function firstHit(phrase: string): string | undefined {
  const wanted = [...wordsOf(phrase)];
  const hits = SECTIONS.filter(({ words }) => wanted.every((word) => has(words, word)));
  const score = ({ headingWords }: Section): number =>
    wanted.filter((word) => has(headingWords, word)).length;
  const [best] = [...hits].sort((a, b) => score(b) - score(a));
  return best && `${best.page}: ${best.heading}`;
}

test('the index lists every page of the guide and the reference', () => {
  for (const name of ['guide', 'reference'] as const) {
    const pages = readdirSync(`${DOCS}/${name}`).map((page) => `${name}/${page}`);
    expect([...shelf(name)].sort()).toEqual(pages.filter((page) => page.endsWith('.md')).sort());
  }
});

/** What people type, and the heading that answers it. */
const PHRASES: Readonly<Record<string, string>> = {
  'stop a run': 'guide/stopping.md: Stop a run',
  'cancel a run': 'guide/stopping.md: Pause or cancel a run from another process',
  'retry a failed run': 'guide/steps-and-retries.md: Retry a failed run',
  'timeout on an approval': 'guide/human-approval.md: Timeout on an approval',
  'test a crash': 'guide/testing.md: Test a crash',
  'upgrade a graph with waiting runs': 'guide/upgrades.md: Upgrade a graph with waiting runs',
  'resume after a crash': 'guide/troubleshooting.md: Resume after a crash',
  'wait for a webhook': 'guide/timeouts-and-schedules.md: Wait for a signal or a webhook',
  'schedule a run': 'guide/webhooks-and-schedules.md: Schedule a run',
  opentelemetry: 'guide/observability.md: Observability',
  'export traces': 'guide/observability.md: Export traces',
  'limit the cost': 'guide/steps-and-retries.md: Limit the cost: set a budget',
  'run in docker': 'guide/deployment.md: Run in Docker',
  'run in kubernetes': 'guide/deployment.md: Run in Kubernetes',
  'deploy on several machines': 'guide/deployment.md: Deploy on several machines',
  'deploy a new version': 'guide/deployment.md: Deploy a new version',
  'encrypt the file': 'guide/security.md: Encrypt the state file',
  'list waiting runs': 'guide/your-graph.md: List waiting runs',
  'long-term memory': 'guide/your-graph.md: Long-term memory: use a store',
  'stream tokens': 'guide/streaming.md: Stream tokens',
  'edit the plan': 'guide/the-pipeline.md: Edit the plan',
  'review the code': 'guide/the-pipeline.md: Review the code',
  'go back to a task': 'guide/the-pipeline.md: Go back to a task',
  'bring my own plan': 'guide/the-pipeline.md: Bring your own documents or plan',
  'use my own API key': 'guide/agents.md: Use your own API key',
  'use a local model': 'guide/agents.md: Use a local model',
  'back up the state file': 'guide/deployment.md: Back up the state file',
  'restore a backup': 'guide/troubleshooting.md: Restore a backup',
  'delete a run': 'guide/your-graph.md: Delete a run',
  'idempotency key': 'guide/steps-and-retries.md: Use an idempotency key',
  'child runs': 'guide/your-graph.md: Start child runs',
  'approve tool calls': 'guide/human-approval.md: Approve tool calls',
  'several approvals': 'guide/human-approval.md: Require several approvals',
  'hide secrets in logs': 'guide/security.md: Hide secrets in logs and output',
  'rename a node': 'guide/upgrades.md: Rename or remove a node',
  'database is locked': 'guide/troubleshooting.md: Database is locked: STATE_IO',
  'disk is full': 'guide/troubleshooting.md: The disk is full or read-only',
  'a run is stuck': 'guide/troubleshooting.md: A run is stuck',
  'exit codes': 'reference/commands.md: Exit codes',
  'add the page to my server': 'guide/page.md: Add the page to your server',
  'connect over MCP': 'reference/mcp.md: Connect over MCP',
};

test.each(Object.entries(PHRASES))('a search for "%s" finds its heading first', (phrase, expected) => {
  expect(firstHit(phrase)).toBe(expected);
});
