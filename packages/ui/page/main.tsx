import { effect } from '@preact/signals';
import { render } from 'preact';
import { App } from './App.tsx';
import { get, keepSecret, post, takeCode } from './api.ts';
import { keepDraftsWhenLeft } from './gate/gateOnPage.ts';
import { listenToKeys } from './keys.ts';
import { follow, followAddress, type Me, me, screen, toErrorView, waitingCount } from './state.ts';
import { screenTitle } from './TopBar.tsx';

async function signIn(): Promise<void> {
  const code = takeCode();
  if (code !== null) keepSecret((await post<{ readonly secret: string }>('api/session', { code })).secret);
  me.value = await get<Me>('api/me');
}

effect(() => {
  const waiting = waitingCount.value;
  document.title = `${waiting > 0 ? `(${waiting}) ` : ''}${screenTitle(screen.value)}`;
  document.querySelector('link[rel=icon]')?.setAttribute('href', `icon.svg?waiting=${Math.min(waiting, 99)}`);
});
render(<App />, document.body);
try {
  await signIn();
  followAddress();
  listenToKeys();
  keepDraftsWhenLeft();
  await follow();
} catch (error) {
  screen.value = { kind: 'error', error: toErrorView(error) };
}
