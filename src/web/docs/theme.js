import { find } from './dom.js';

/** The name of the theme in the local storage: `system`, `light` or `dark`, also that of the console. */
const NAME = 'theme';

/** Shows the page in the theme of the user, and lets the user choose another. */
export function showTheme() {
  const menu = find('#theme', HTMLSelectElement);
  menu.addEventListener('change', () => {
    localStorage.setItem(NAME, menu.value);
    apply();
  });
  // Another tab or, before the page was returned to, another page may have changed it.
  for (const event of ['storage', 'pageshow']) window.addEventListener(event, apply);
  apply();

  function apply() {
    const theme = localStorage.getItem(NAME) ?? 'system';
    document.documentElement.dataset.theme = theme;
    menu.value = theme;
  }
}
