import { gateName } from './gate/gateWords.ts';
import { Icon } from './icons.tsx';
import { inboxHref, runHref } from './place.ts';
import { me, runningCount, type ScreenState, screen, waitingCount } from './state.ts';

/** A step on the way to a screen; the last one is the screen itself. */
interface Crumb {
  readonly words: string;
  readonly href: string | null;
}

/** The way to a screen, below the inbox. Pure. */
export function crumbsOf(shown: ScreenState): readonly Crumb[] {
  switch (shown.kind) {
    case 'gate':
      return [
        { words: shown.view.title, href: runHref(shown.view.threadId) },
        { words: gateName(shown.view), href: null },
      ];
    case 'run':
      return [{ words: shown.view.title, href: null }];
    case 'runs':
      return [{ words: 'Runs', href: null }];
    case 'inbox':
    case 'waiting':
    case 'loading':
    case 'error':
      return [];
  }
}

/** For the tab. Pure. */
export function screenTitle(shown: ScreenState): string {
  const names = crumbsOf(shown).map(({ words }) => words);
  return [...names.toReversed(), ...(names.length === 0 ? ['Inbox'] : []), 'devs'].join(' · ');
}

/** The way to this screen, the numbers of other screens, and the person. */
export function TopBar() {
  const crumbs = crumbsOf(screen.value);
  const [waiting, running] = [waitingCount.value, runningCount.value];
  return (
    <header class="topbar">
      <a class="brand" href={inboxHref} aria-label="devs, inbox">
        <i />
        <span class="hide-s">devs</span>
      </a>
      <nav class="crumbs" aria-label="Where you are">
        {crumbs.length === 0 ? (
          <a href={inboxHref} aria-current="page">
            Inbox
          </a>
        ) : (
          <a class="hide-s" href={inboxHref}>
            Inbox
          </a>
        )}
        {crumbs.map(({ words, href }) => (
          <CrumbLink key={words} words={words} href={href} />
        ))}
      </nav>
      <span class="grow" />
      {running > 0 && (
        <a class="livedot hide-s" href={inboxHref}>
          {running} running
        </a>
      )}
      {waiting > 0 && (
        <a class="chip wait" href={inboxHref} title="They wait for you">
          <Icon name="inbox" />
          {waiting}
          <span class="hide-s"> waiting</span>
        </a>
      )}
      <button type="button" class="btn quiet sm hide-m" popovertarget="keys" aria-label="Keys">
        <kbd>?</kbd>
      </button>
      {me.value !== null && <Who />}
    </header>
  );
}

const CrumbLink = ({ words, href }: Crumb) => (
  <>
    <span class="sep hide-s" aria-hidden="true">
      /
    </span>
    {href === null ? (
      <span class="crumb" aria-current="page">
        {words}
      </span>
    ) : (
      <a href={href}>{words}</a>
    )}
  </>
);

function Who() {
  const id = me.value?.by.id ?? '';
  if (me.value?.isReadOnly === true) return <span class="chip">read-only</span>;
  return (
    <span class="who" role="img" aria-label={`You decide as ${id}`} title={`You decide as ${id}`}>
      {id.slice(0, 1).toUpperCase()}
    </span>
  );
}
