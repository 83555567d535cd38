import type { CommitLine } from '../../src/views/commitsView.ts';
import type { ShownRunView } from '../../src/views/runView.ts';
import { Icon } from '../icons.tsx';
import { Lines } from '../parts.tsx';
import { gateHref } from '../place.ts';
import { shortHash } from '../words.ts';

/** The commits of the tasks, the latest first, each with its review. */
export function Commits({
  run: { id, commits, branch },
}: {
  readonly run: Pick<ShownRunView, 'id' | 'commits' | 'branch'>;
}) {
  if (commits.length === 0) return null;
  return (
    <section class="panel commits" aria-label="Commits">
      <header>
        <h2>Commits</h2>
        <span class="grow" />
        <span class="q3">{branch === null ? commits.length : <code>{branch.name}</code>}</span>
      </header>
      <ul>
        {commits.map((commit) => (
          <li key={commit.label}>
            {commit.sessionId === null ? (
              <span class="commit">
                <Words commit={commit} />
              </span>
            ) : (
              <a class="commit item" href={gateHref(id, commit.sessionId)}>
                <Words commit={commit} />
              </a>
            )}
          </li>
        ))}
      </ul>
    </section>
  );
}

const TONES = { committed: 'q3', waits: 'wait', approved: 'ok', 'sent back': 'wait' } as const;

const Words = ({ commit: { sha, label, name, state, by, size } }: { readonly commit: CommitLine }) => (
  <>
    <Icon name="commit" tone={TONES[state]} />
    <span class="grow">
      {label} {name}
      <span class="q3">
        <code>{shortHash(sha)}</code>
        {state !== 'committed' && `, ${state === 'waits' ? 'waits for review' : state}`}
        {by !== null && ` by ${by.replace('human:', '')}`}
      </span>
    </span>
    {size !== null && <Lines {...size} />}
  </>
);
