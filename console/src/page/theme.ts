import { effect } from '@preact/signals';
import { keptChoice } from './preferences.ts';

export const THEMES = ['system', 'light', 'dark'] as const;

/** Light, dark, or as the system has it. */
export const theme = keptChoice('theme', THEMES, 'system');

effect(() => {
  document.documentElement.dataset.theme = theme.value;
});
