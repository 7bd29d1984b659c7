import { createContext } from 'preact';
import { useContext } from 'preact/hooks';
import type { App } from '../state/app.ts';

export const AppContext = createContext({} as App);

/** The state of the console. */
export function useApp(): App {
  return useContext(AppContext);
}
