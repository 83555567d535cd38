import { type ComponentChildren, Fragment } from 'preact';
import type { ShownGateView } from '../../src/views/gateView.ts';
import { Icon, isTrouble, kindIcon } from '../icons.tsx';
import { Since } from '../parts.tsx';
import { runHref } from '../place.ts';
import { gateTitle, ownMessage, workWords } from './gateWords.ts';

interface GateHeadOf {
  readonly view: ShownGateView;
  /** The answer to the question of the screen, at first sight. */
  readonly children: ComponentChildren;
}

/** The question, its run, and its time. */
export function GateHead({ view, children }: GateHeadOf) {
  const { about, kind, openedAt, threadId, title, work } = view;
  const asked = gateTitle(view);
  const message = ownMessage(view);
  return (
    <header class="head">
      <p class="eyebrow">
        <span class={`chip ${isTrouble(kind) ? 'bad' : 'wait'}`}>
          <Icon name={kindIcon(kind)} />
          {about}
        </span>
        <a href={runHref(threadId)}>{title}</a>
        {work?.task != null && (
          <>
            <span aria-hidden="true">·</span>
            <span>
              task {work.task.at} of {work.task.of}
            </span>
          </>
        )}
        <span aria-hidden="true">·</span>
        <span>
          asked <Since at={openedAt} />
        </span>
        {workWords(view).map((words) => (
          <Fragment key={words}>
            <span class="hide-s" aria-hidden="true">
              ·
            </span>
            <span class="hide-s">{words}</span>
          </Fragment>
        ))}
      </p>
      <h1 class="title">{asked}</h1>
      {message !== '' && message !== asked && <p class="q2 message">{message}</p>}
      {children}
    </header>
  );
}
