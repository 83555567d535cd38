import { GateScreen } from './GateScreen.tsx';
import { Inbox, Runs, Waiting } from './Inbox.tsx';
import { KeysSheet } from './KeysSheet.tsx';
import { Loading, Problem } from './parts.tsx';
import { RunScreen } from './RunScreen.tsx';
import { offline, screen } from './state.ts';
import { TopBar } from './TopBar.tsx';

export function App() {
  return (
    <>
      <button type="button" class="skip" onClick={() => document.querySelector<HTMLElement>('main')?.focus()}>
        Skip to the content
      </button>
      <TopBar />
      {offline.value !== null && (
        <div class="offline">
          <Problem error={offline.value} />
        </div>
      )}
      <main id="main" tabIndex={-1}>
        <Screen />
      </main>
      <KeysSheet />
    </>
  );
}

function Screen() {
  const shown = screen.value;
  switch (shown.kind) {
    case 'loading':
      return <Loading />;
    case 'error':
      return (
        <div class="alone">
          <h1 class="title">This cannot be shown</h1>
          <Problem error={shown.error} />
        </div>
      );
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
