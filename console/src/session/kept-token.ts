import type { Token } from '../../../src/client/index.ts';

/** Where the token is kept, so that a page which is loaded again need not ask. It goes with the tab. */
const NAME = 'token';

export function keepToken(token: Token): void {
  sessionStorage.setItem(NAME, JSON.stringify(token));
}

export function forgetToken(): void {
  sessionStorage.removeItem(NAME);
}

/** The token of before the page was loaded, if it is good for a moment yet. */
export function keptToken(): Token | undefined {
  const token = JSON.parse(sessionStorage.getItem(NAME) ?? 'null') as Token | null;
  return token && token.expiresAt > Date.now() + 1_000 ? token : undefined;
}
