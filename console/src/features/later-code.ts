import { signal } from '@preact/signals';

/** The code that the first paint does not need; undefined until it is loaded. */
export const later = signal<typeof import('./later.tsx') | undefined>(undefined);
