import { GateScreen } from './GateScreen.tsx';
import { Inbox, Runs, Waiting } from './Inbox.tsx';
import { Problem } from './parts.tsx';
import { inboxHref } from './place.ts';
import { RunScreen } from './RunScreen.tsx';
import { me, offline, screen, waitingCount } from './state.ts';

export function App() {
  return (
    <>
      <nav>
        <a href={inboxHref}>devs</a>
        <a href={inboxHref}>Inbox{waitingCount.value > 0 && <span class="count">{waitingCount}</span>}</a>
        <span class="grow" />
        <span class="quiet keys">
          <kbd>j</kbd> <kbd>k</kbd> rows, <kbd>i</kbd> inbox, <kbd>a</kbd> approve, <kbd>r</kbd> write,{' '}
          <kbd>Enter</kbd> on a line: comment
        </span>
        {me.value !== null && <span class="quiet">{me.value.isReadOnly ? 'read-only' : me.value.by.id}</span>}
      </nav>
      {offline.value !== null && (
        <div class="offline">
          <Problem error={offline.value} />
        </div>
      )}
      <main>
        <Screen />
      </main>
    </>
  );
}

function Screen() {
  const shown = screen.value;
  switch (shown.kind) {
    case 'loading':
      return <p class="quiet">…</p>;
    case 'error':
      return <Problem error={shown.error} />;
    case 'inbox':
      return <Inbox view={shown.view} />;
    case 'waiting':
      return <Waiting view={shown.view} />;
    case 'runs':
      return <Runs view={shown.view} />;
    case 'run':
      return <RunScreen key={shown.view.id} view={shown.view} />;
    case 'gate':
      return <GateScreen key={shown.view.sessionId} view={shown.view} />;
  }
}
