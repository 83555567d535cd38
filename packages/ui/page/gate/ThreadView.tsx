import type { LastComment } from '@devs/core/internal';
import { useLayoutEffect, useRef } from 'preact/hooks';
import type { Draft } from '../../src/drafts/Draft.ts';
import { formatPlaceName } from '../words.ts';
import { begun, type CommentThread, type GateOnPage } from './gateOnPage.ts';

/** What is said of a line: by the person now, and by whoever sent the version before back. */
export function ThreadView({ thread, gate }: { readonly thread: CommentThread; readonly gate: GateOnPage }) {
  return (
    <>
      <LastComments comments={thread.last} />
      {thread.own.map(({ comment, index }) => (
        <OwnComment key={index} comment={comment} index={index} gate={gate} />
      ))}
    </>
  );
}

const SINCE: Readonly<Record<LastComment['since'], string>> = {
  unchanged: 'the text is unchanged',
  changed: 'the text has changed',
  gone: 'the text was deleted',
  unknown: 'changes of the text cannot be checked here',
};

export function LastComments({ comments }: { readonly comments: readonly LastComment[] }) {
  return (
    <>
      {comments.map((comment, at) => (
        <div key={at} class={`note last ${comment.since}`} tabIndex={-1}>
          <div class="msg">
            <blockquote>{comment.quote}</blockquote>
            <p>{comment.text}</p>
          </div>
          <footer class="foot">
            {comment.by}, on the previous version; <strong>{SINCE[comment.since]}</strong>
          </footer>
        </div>
      ))}
    </>
  );
}

interface OwnCommentOf {
  readonly comment: Draft['comments'][number];
  /** Among all of the draft. */
  readonly index: number;
  readonly gate: GateOnPage;
}

function OwnComment({ comment, index, gate: { store, takesComments } }: OwnCommentOf) {
  const area = useRef<HTMLTextAreaElement>(null);
  useLayoutEffect(() => {
    if (begun.value !== index) return;
    begun.value = null;
    area.current?.focus();
  }, []);
  const { in: place, line, quote, text } = comment;
  const comments = (): readonly Draft['comments'][number][] => store.draft.value.comments;
  const remove = (): void => store.change({ comments: comments().filter((_, at) => at !== index) });
  const write = (said: string): void =>
    store.change({ comments: comments().map((each, at) => (at === index ? { ...each, text: said } : each)) });
  return (
    <div class="note own draft">
      <div class="msg">
        <blockquote>{quote}</blockquote>
        <textarea
          ref={area}
          rows={2}
          value={text}
          disabled={!takesComments}
          aria-label={`Your comment on line ${line} of ${formatPlaceName(place)}`}
          onInput={({ currentTarget }) => write(currentTarget.value)}
        />
      </div>
      <p class="foot">
        <span class="grow">Draft, sent when you send it back</span>
        <button type="button" class="btn quiet sm" onClick={remove}>
          Remove
        </button>
      </p>
    </div>
  );
}
