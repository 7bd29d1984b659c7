import type { Token } from '../../../src/client/index.ts';

/** What the tabs of a browser tell each other about their session. Like the session storage, it is kept on no disk. */
export type TabMessage =
  /** A tab without a token asks for one. */
  | { readonly kind: 'request' }
  | { readonly kind: 'token'; readonly token: Token }
  | { readonly kind: 'use' }
  | { readonly kind: 'sign-out' };

const channel = new BroadcastChannel('session');

export function tellOtherTabs(message: TabMessage): void {
  channel.postMessage(message);
}

export function onMessageOfOtherTab(handle: (message: TabMessage) => void): void {
  channel.addEventListener('message', ({ data }) => handle(data as TabMessage));
}
