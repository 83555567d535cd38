import { type Signal, useSignal } from '@preact/signals';
import type { GateView, ShownGateView } from '../../src/views/gateView.ts';
import { gatePath } from '../api.ts';
import { Icon } from '../icons.tsx';
import { Lines, Since } from '../parts.tsx';
import { useView } from '../useView.ts';
import { formatNumbered } from '../words.ts';
import type { EarlierVersion } from './Changes.tsx';
import { isAnswered } from './gateWords.ts';
import { versionFiles } from './versionFiles.ts';

/** The version that the person viewed before, and whether the changes since then are marked. */
export interface ReadSince {
  /** `null` on a first reading, and until it is loaded. */
  readonly earlier: EarlierVersion | null;
  readonly isMarked: Signal<boolean>;
}

export function useSince({ threadId, readBefore }: ShownGateView): ReadSince {
  const isMarked = useSignal(true);
  const path = readBefore === null ? null : gatePath({ threadId, sessionId: readBefore });
  const loaded = useView<GateView>(path).value;
  return { earlier: loaded.kind === 'shown' ? loaded.view : null, isMarked };
}

/** Parts that are named; of more, only how many. */
const NAMED = 6;

/** The changes of a proposal since the person read it. */
export function SinceRead({ view, since }: { readonly view: ShownGateView; readonly since: ReadSince }) {
  const { earlier, isMarked } = since;
  const version = view.versions.find(({ sessionId }) => sessionId === view.readBefore);
  if (earlier === null || version === undefined) return null;
  const files = versionFiles(earlier.artifact, view.artifact);
  const answered = view.lastComments.filter(isAnswered).length;
  return (
    <section class="panel since" aria-label="Since you read it">
      <div class="row wrap">
        <b>Since you read version {view.versions.indexOf(version) + 1}</b>
        <span class="q3">
          <Since at={version.openedAt} />
        </span>
        <span class="grow" />
        <label class="toggle">
          <input
            type="checkbox"
            id="marks"
            checked={isMarked.value}
            onChange={({ currentTarget }) => {
              isMarked.value = currentTarget.checked;
            }}
          />
          Show changes <kbd class="hide-s">d</kbd>
        </label>
      </div>
      <ul>
        {view.lastComments.length > 0 && (
          <li class="since-fact">
            <Icon
              name={answered === view.lastComments.length ? 'check' : 'comment'}
              tone={answered === view.lastComments.length ? 'ok' : 'wait'}
            />
            <span>
              <b>
                {answered} of {view.lastComments.length}
              </b>{' '}
              comments answered
            </span>
          </li>
        )}
        <li class="since-fact">
          <Icon name="document" tone="q3" />
          <Parts files={files} />
        </li>
      </ul>
    </section>
  );
}

const Parts = ({ files }: { readonly files: ReturnType<typeof versionFiles> }) => (
  <span>
    {files.length === 0 && 'Nothing has changed.'}
    {files.length > NAMED && `${formatNumbered(files.length, 'part')} changed`}
    {files.length <= NAMED &&
      files.map(({ path, added, removed }, at) => (
        <span key={path}>
          {at > 0 && ', '}
          {path} <Lines added={added} removed={removed} />
        </span>
      ))}
  </span>
);
