import type { TestText } from './dialects.ts';
import type { Case, Files, Repository } from './Repository.ts';

/** One task in a repository: its right work, and how it is done wrongly. Contents are those of the last commit. */
export interface Job {
  readonly repository: Repository;
  /** Of the last commit, by path. */
  readonly base: Readonly<Record<string, string>>;
  /** A task that no test can show. */
  readonly isChore: boolean;
}

export const CHORE = {
  title: 'Say in the readme what it takes',
  brief:
    'The readme says, under a heading `## Requirements`, that Node.js 20 or later is needed. No code changes.',
  text: '\n## Requirements\n\nNode.js 20 or later.\n',
} as const;

export const titleOf = ({ isChore, repository: { feature } }: Job): string =>
  isChore ? CHORE.title : feature.title;

export const briefOf = (job: Job): string =>
  `# ${titleOf(job)}\n\n${job.isChore ? CHORE.brief : job.repository.feature.brief}\n`;

export function criteriaOf({ isChore, repository: { feature } }: Job): readonly string[] {
  if (isChore) return ['the readme names Node.js 20'];
  return feature.cases.map(({ args, of = '', expected }) => `${feature.call}(${args})${of} is ${expected}`);
}

/** The file of the code from the file of the test. */
const fromOf = ({ code, test }: Repository['feature']): string => {
  const up = test.split('/').length - 1;
  const shared = code.split('/').slice(0, up).join('/') === test.split('/').slice(0, up).join('/');
  return shared ? `./${code.split('/').slice(up).join('/')}` : `${'../'.repeat(up)}${code}`;
};

export function testOf(
  { repository: { feature, dialect } }: Job,
  {
    cases = feature.cases,
    isSkipped = false,
  }: { readonly cases?: readonly Case[]; readonly isSkipped?: boolean } = {},
): string {
  const text: TestText = {
    from: fromOf(feature),
    name: feature.call.split('.')[0] ?? feature.call,
    call: feature.call,
    title: feature.title.toLowerCase(),
    cases,
    isSkipped,
  };
  return dialect.write(text);
}

/** The test with a first expectation that no right code meets. */
export function wrongTestOf(job: Job): string {
  const [first, ...others] = job.repository.feature.cases;
  if (first === undefined) throw new Error(`${job.repository.name}: a feature needs a case`);
  return testOf(job, { cases: [{ ...first, expected: "'something else'" }, ...others] });
}

const read =
  ({ base }: Job) =>
  (path: string): string =>
    base[path] ?? '';

export const rightWork = (job: Job): Files =>
  job.isChore ? choreWork(job) : job.repository.feature.right(read(job));
export const wrongWork = (job: Job): Files => job.repository.feature.wrong(read(job));
export const specialWork = (job: Job): Files => job.repository.feature.special(read(job));

function choreWork({ base, repository: { readme } }: Job): Files {
  return { [readme]: `${(base[readme] ?? '').trimEnd()}\n${CHORE.text}` };
}
